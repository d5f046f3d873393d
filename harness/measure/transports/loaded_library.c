#include "measure/transports/loaded_library.h"

#include <errno.h>
#include <string.h>

#include "common/dpdk_abi.h"
#include "measure/transports/transport_list.h"

struct library {
	const char *transport, *file, *debian, *fedora;
};

static const struct library *library_of(const char *transport)
{
#define ROW(transport, file, debian, fedora) {#transport, file, debian, fedora},
	static const struct library libraries[] = {EVERY_LOADED_LIBRARY(ROW){.transport = NULL}};
	const struct library *library = libraries;

	while (library->transport && strcmp(library->transport, transport) != 0)
		library++;
	return library;
}

int loaded_library_open(const char *transport, const char *const *names, void *functions, struct err *e)
{
	const struct library *library = library_of(transport);

	if (!library->transport)
		return err_set(e, -ENOENT, STATUS_FAILED, transport, "load the library of",
			       "EVERY_LOADED_LIBRARY has no row for it");
	return library_load(library->file, library->debian, library->fedora, names, functions, e);
}
