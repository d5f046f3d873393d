/* In place of binary.c, binary_*.c and code.c, in a build without libdw: nothing is found in a program. */
#include <string.h>

#include "common/feature.h"
#include "measure/program/binary.h"

bool binary_is_usdt(const char *name)
{
	(void)name;
	return false;
}

int binary_find(const struct probed_file *file, const char *name, bool at_return, struct binary_sites *out,
		struct err *e)
{
	(void)file, (void)at_return;
	memset(out, 0, sizeof(*out));
	return feature_missing("libdw", name, e);
}

void binary_sites_free(struct binary_sites *s)
{
	(void)s;
}

bool usdt_note_read(const uint8_t *data, size_t size, size_t word, struct usdt_note *out)
{
	(void)data, (void)size, (void)word, (void)out;
	return false;
}

bool usdt_argument(const char *arguments, unsigned number, char out[USDT_FETCH])
{
	(void)arguments, (void)number, (void)out;
	return false;
}

bool binary_sites_have(const struct binary_sites *s, uint64_t address)
{
	(void)s, (void)address;
	return false;
}

bool code_is_taken(int condition, uint64_t flags)
{
	(void)condition, (void)flags;
	return false;
}
