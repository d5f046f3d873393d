#include "run/hello.h"

#include <errno.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/version.h"
#include "common/wire.h"

int hello_check(const json_t *hello, const char *name, struct err *e)
{
	const json_int_t protocol = json_integer_value(json_object_get(hello, "protocol"));
	const char *host = json_text_or(hello, "host", "?"), *version = json_text_or(hello, "version", "?");
	const char *order = json_text_or(hello, "byte_order", "?");

	if (strcmp(json_text(hello, "type"), "hello") || protocol != WIRE_PROTOCOL)
		return err_set(e, -EPROTO, STATUS_FAILED, name, NULL,
			       "the endpoint on %.64s speaks protocol %lld, not %d; use the same kblat on both hosts",
			       host, (long long)protocol, WIRE_PROTOCOL);
	if (strcmp(order, WIRE_BYTE_ORDER))
		return err_set(
		    e, -EPROTO, STATUS_FAILED, name, NULL,
		    "the host %.64s is %.16s-endian, this one is %s-endian: both must have the same byte order", host,
		    order, WIRE_BYTE_ORDER);
	if (strcmp(version, kblat_version))
		return err_set(e, -EPROTO, STATUS_FAILED, name, NULL,
			       "the endpoint on %.64s is kblat %.32s, this one is %s; use the same kblat on both hosts",
			       host, version, kblat_version);
	return 0;
}
