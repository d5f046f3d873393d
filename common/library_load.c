#include "common/library_load.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

int library_load(const char *file, const char *debian, const char *fedora, const char *const *names, void *functions,
		 struct err *e)
{
	void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	char *place = functions;

	if (!handle)
		return err_set(e, -ENOENT, STATUS_IMPOSSIBLE, file, "load",
			       "%s; install the package %s (Debian, Ubuntu) or %s (Fedora, RHEL)", dlerror(), debian,
			       fedora);
	for (size_t i = 0; names[i]; i++, place += sizeof(void *)) {
		void *function = dlsym(handle, names[i]);

		if (!function)
			return err_set(
			    e, -ENOSYS, STATUS_IMPOSSIBLE, file, "use",
			    "it has no function %s; install the package %s (Debian, Ubuntu) or %s (Fedora, RHEL)",
			    names[i], debian, fedora);
		memcpy(place, &function, sizeof(function));
	}
	return 0;
}
