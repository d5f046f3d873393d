#include "instrument/rep_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"

void rep_file_open(struct rep_file *f, const char *dir, const char *name, const char *suffix, bool keep)
{
	*f = (struct rep_file){.dir = fs_path("%s", dir), .name = name, .suffix = suffix, .keep = keep};
}

int rep_file_make(struct rep_file *f, unsigned repetition, bool *is_direct, struct err *e)
{
	const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
	int fd, rc;

	free(f->path);
	f->path = fs_path("%s/%s-%02u.%s", f->dir, f->name, repetition, f->suffix);
	fd = open(f->path, flags | (is_direct ? O_DIRECT : 0), 0666);
	if (is_direct) {
		*is_direct = fd >= 0 || errno != EINVAL;
		if (!*is_direct) /* tmpfs */
			fd = open(f->path, flags, 0666);
	}
	if (fd < 0)
		return err_sys(e, -errno, f->path, "create");
	if (f->keep || !unlink(f->path))
		return fd;
	rc = err_sys(e, -errno, f->path, "remove");
	close(fd);
	return rc;
}

int rep_file_fail(struct rep_file *f, int rc, uint64_t bytes, struct err *e)
{
	if (f->keep)
		unlink(f->path);
	return err_set(e, rc, STATUS_FAILED, f->dir, "write the samples to a file in",
		       "%s after %llu bytes; free some space, or choose another folder with sink_dir", strerror(-rc),
		       (unsigned long long)bytes);
}

void rep_file_close(struct rep_file *f)
{
	free(f->dir);
	free(f->path);
	*f = (struct rep_file){0};
}
