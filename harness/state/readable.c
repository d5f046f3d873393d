#include "state/readable.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/sysroot.h"

static bool has_mode(const struct sysroot *root, const char *path, int bit)
{
	int mode = sysroot_mode(root, path);

	return mode >= 0 && mode & bit;
}

static bool enterable_by_all(const struct sysroot *root, const char *folder)
{
	char prefix[4096];

	for (const char *slash = folder; (slash = strchr(slash + 1, '/'));) {
		snprintf(prefix, sizeof(prefix), "%.*s", (int)(slash - folder), folder);
		if (!has_mode(root, prefix, S_IXOTH))
			return false;
	}
	return has_mode(root, folder, S_IXOTH);
}

bool readable_by_all(struct readable *r, const struct sysroot *root, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t n = slash && slash > path ? (size_t)(slash - path) : 0;

	if (n >= sizeof(r->folder))
		return false;
	if (n && (strncmp(r->folder, path, n) || r->folder[n])) {
		snprintf(r->folder, sizeof(r->folder), "%.*s", (int)n, path);
		r->by_all = enterable_by_all(root, r->folder);
	}
	return (!n || r->by_all) && has_mode(root, path, S_IROTH);
}

bool readable_kernel_log(const struct sysroot *root)
{
	int64_t restricted;

	return !sysroot_int(root, "/proc/sys/kernel/dmesg_restrict", &restricted) && !restricted;
}
