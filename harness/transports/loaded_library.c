#include "transports/loaded_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

int loaded_library_open(const struct loaded_library *library, struct err *e)
{
	char *functions = library->functions;
	void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return err_set(e, -ENOENT, STATUS_IMPOSSIBLE, library->file, "load", "%s; install the package %s",
			       dlerror(), library->package);
	for (size_t i = 0; library->names[i]; i++) {
		void *function = dlsym(handle, library->names[i]);

		if (!function)
			return err_set(e, -ENOSYS, STATUS_IMPOSSIBLE, library->file, "use",
				       "it has no function %s; install the package %s", library->names[i],
				       library->package);
		memcpy(functions + i * sizeof(function), &function, sizeof(function));
	}
	return 0;
}
