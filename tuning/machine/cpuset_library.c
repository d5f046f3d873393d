#include "tuning/machine/cpuset_library.h"

#include <cpuset.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"

bool cpuset_library_knows(const char *mounted_at)
{
	return !strcmp(mounted_at, "/dev/cpuset");
}

int cpuset_library_make(const char *path, const struct cpuset_wanted *w, char *why, size_t size)
{
	char *text = fs_path("cpus %s\nmems %s\n%s", w->cpus, w->memory, w->is_exclusive ? "cpu_exclusive\n" : "");
	struct cpuset *set = cpuset_alloc();
	int line = 0, rc = 0;

	if (!set)
		rc = -ENOMEM;
	else if (cpuset_import(set, text, &line, why, (int)size))
		rc = -EINVAL;
	else if (cpuset_create(path, set))
		rc = -errno;
	cpuset_free(set);
	free(text);
	return rc;
}

int cpuset_library_remove(const char *path)
{
	return cpuset_delete(path) ? -errno : 0;
}

int cpuset_library_move(pid_t tid, const char *path)
{
	return cpuset_move(tid, path) ? -errno : 0;
}
