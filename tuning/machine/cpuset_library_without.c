/* In place of cpuset_library.c, in a build without libcpuset: what is mounted at /dev/cpuset is changed by its files, too. */
#include <errno.h>

#include "tuning/machine/cpuset_library.h"

bool cpuset_library_knows(const char *mounted_at)
{
	(void)mounted_at;
	return false;
}

int cpuset_library_make(const char *path, const struct cpuset_wanted *w, char *why, size_t size)
{
	(void)path, (void)w, (void)why, (void)size;
	return -ENOSYS;
}

int cpuset_library_remove(const char *path)
{
	(void)path;
	return -ENOSYS;
}

int cpuset_library_move(pid_t tid, const char *path)
{
	(void)tid, (void)path;
	return -ENOSYS;
}
