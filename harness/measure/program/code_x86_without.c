/* In place of code_x86.c, in a build without libcapstone. */
#include <errno.h>

#include "common/feature.h"
#include "measure/program/binary_site.h"

int code_x86_load(struct err *e)
{
	return feature_missing("libcapstone", "libcapstone", e);
}

int code_x86_decode(enum code_machine machine, const uint8_t *bytes, size_t size, struct code *out, uint64_t *undecoded)
{
	(void)machine, (void)bytes, (void)size, (void)out, (void)undecoded;
	return -ELIBACC;
}
