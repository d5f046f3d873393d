#include "report/derived.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"

FILE *derived_open(const char *path, struct err *e)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (file)
		return file;
	err_sys(e, -errno, path, "make the file");
	if (fd >= 0)
		close(fd);
	return NULL;
}

int derived_directory(const char *path, struct err *e)
{
	DIR *d = opendir(path);
	bool empty = true;

	for (struct dirent *entry; d && (entry = readdir(d));)
		empty &= !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	if (d)
		closedir(d);
	if (!empty)
		return err_set(e, -ENOTEMPTY, STATUS_USAGE, path, "write a page",
			       "the directory is not empty; name a new one");
	return fs_mkdirs(path, e);
}

int derived_close(FILE *file, const char *path, struct err *e)
{
	bool failed;

	if (!file)
		return -EIO;
	errno = 0;
	failed = ferror(file) || fflush(file);
	if (fclose(file))
		failed = true;
	return failed ? err_sys(e, errno ? -errno : -EIO, path, "write the file") : 0;
}
