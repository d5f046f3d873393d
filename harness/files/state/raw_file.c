#include "files/state/raw_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs.h"

#define PATH_KEPT 3000

bool raw_file_is_path(const char *path)
{
	size_t n = strlen(path);

	if (*path != '/' || n > PATH_KEPT || path[n - 1] == '/')
		return false;
	for (const char *p = path; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return false;
	for (const char *p = path; p; p = strchr(p, '/')) {
		size_t component = strcspn(++p, "/");

		if (!component || (component == 1 && *p == '.') || (component == 2 && !strncmp(p, "..", 2)))
			return false;
	}
	return true;
}

/* Create the directory of `path` below `dir`. Usually its parent exists already. */
static int make_parent(int dir, const char *path)
{
	const char *slash = strrchr(path, '/');
	char parent[PATH_KEPT + 1];
	int rc;

	if (!slash)
		return -ENOENT;
	snprintf(parent, sizeof(parent), "%.*s", (int)(slash - path), path);
	if (!mkdirat(dir, parent, 0777) || errno == EEXIST)
		return 0;
	rc = errno == ENOENT ? make_parent(dir, parent) : -errno;
	return !rc && mkdirat(dir, parent, 0777) ? -errno : rc;
}

static int create_raw(int dir, const char *path, mode_t mode)
{
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int rc, fd = openat(dir, path, flags, mode);

	if (fd >= 0 || errno != ENOENT)
		return fd < 0 ? -errno : fd;
	rc = make_parent(dir, path);
	if (rc)
		return rc;
	fd = openat(dir, path, flags, mode);
	return fd < 0 ? -errno : fd;
}

int raw_file_write(int dir, const char *path, mode_t mode, const char *text, size_t length)
{
	int rc, fd = create_raw(dir, path + 1, mode);

	if (fd < 0)
		return fd == -EEXIST ? 0 : fd;
	rc = fs_write_fd(fd, text, length);
	return close(fd) && !rc ? -errno : rc;
}
