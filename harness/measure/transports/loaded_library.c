#include "measure/transports/loaded_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
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

static int load(const struct library *library, const char *const *names, void *functions, struct err *e)
{
	const char *file = library->file;
	void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	char *place = functions;

	if (!handle)
		return err_set(e, -ENOENT, STATUS_IMPOSSIBLE, file, "load",
			       "%s; install the package %s (Debian, Ubuntu) or %s (Fedora, RHEL)", dlerror(),
			       library->debian, library->fedora);
	for (size_t i = 0; names[i]; i++, place += sizeof(void *)) {
		void *function = dlsym(handle, names[i]);

		if (!function)
			return err_set(
			    e, -ENOSYS, STATUS_IMPOSSIBLE, file, "use",
			    "it has no function %s; install the package %s (Debian, Ubuntu) or %s (Fedora, RHEL)",
			    names[i], library->debian, library->fedora);
		memcpy(place, &function, sizeof(function));
	}
	return 0;
}

int loaded_library_open(const char *transport, const char *const *names, void *functions, struct err *e)
{
	const struct library *library = library_of(transport);

	if (!library->transport)
		return err_set(e, -ENOENT, STATUS_FAILED, transport, "load the library of",
			       "EVERY_LOADED_LIBRARY has no row for it");
	return load(library, names, functions, e);
}
