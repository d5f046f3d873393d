#include "measure/transports/bpf_code.h"

#include <bpf/libbpf.h>
#include <errno.h>

struct bpf_object *bpf_code_open(const unsigned char *bytes, size_t size, const void *wanted, size_t wanted_size)
{
	const struct bpf_object_open_opts options = {.sz = sizeof(options), .object_name = "kblat"};
	struct bpf_object *code;
	int rc;

	libbpf_set_print(NULL); /* errors are returned, and told once */
	code = bpf_object__open_mem(bytes, size, &options);
	if (!code)
		return NULL;
	rc = bpf_map__set_initial_value(bpf_object__find_map_by_name(code, "kblat.rodata"), wanted, wanted_size);
	if (!rc)
		return code;
	bpf_object__close(code);
	errno = -rc;
	return NULL;
}
