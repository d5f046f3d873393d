#include "common/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/err.h"
#include "common/open_path.h"
#include "common/or_abort.h"

/* Each level of a tree takes a file descriptor while it is traversed. */
#define DEPTH_MAX   100
#define FIRST_READ  ((size_t)1 << 12)
#define SECOND_READ ((size_t)1 << 16)

char *fs_path(const char *format, ...)
{
	char *path;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vasprintf(&path, format, ap);
	va_end(ap);
	return or_abort(n < 0 ? NULL : path);
}

char *fs_program(const char *name)
{
	const char *path = getenv("PATH");
	char *copy, *rest, *found = NULL;

	if (strchr(name, '/'))
		return realpath(name, NULL);
	copy = rest = or_abort(strdup(path ? path : "/usr/bin:/bin"));
	for (const char *dir; !found && (dir = strsep(&rest, ":"));) {
		char *candidate = fs_path("%s/%s", *dir ? dir : ".", name);

		if (!access(candidate, X_OK))
			found = realpath(candidate, NULL);
		free(candidate);
	}
	free(copy);
	return found;
}

static int make_one_dir(const char *path, struct err *e)
{
	struct stat st;
	int rc;

	if (!mkdir(path, 0777))
		return 0;
	rc = -errno;
	/* For an existing directory, the error may be EACCES or EROFS instead of EEXIST. */
	if (stat(path, &st))
		return err_sys(e, rc, path, "make the directory");
	if (!S_ISDIR(st.st_mode))
		return err_set(e, -ENOTDIR, STATUS_FAILED, path, "make the directory",
			       "it exists, and is not a directory");
	return 0;
}

int fs_mkdirs(const char *path, struct err *e)
{
	char *copy;
	int rc = 0;

	if (!*path)
		return err_set(e, -EINVAL, STATUS_FAILED, NULL, "make a directory", "its name is empty");
	if (fs_is_directory(path))
		return 0;
	copy = fs_path("%s", path);
	for (char *p = copy + 1; !rc && *p; p++) {
		if (*p != '/' || p[-1] == '/')
			continue;
		*p = '\0';
		rc = make_one_dir(copy, e);
		*p = '/';
	}
	if (!rc)
		rc = make_one_dir(copy, e);
	free(copy);
	return rc;
}

int fs_write_fd(int fd, const void *data, size_t size)
{
	const char *p = data;

	while (size) {
		ssize_t n = write(fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		size -= (size_t)n;
	}
	return 0;
}

static int write_and_sync(const char *path, const struct iovec *part, size_t parts, mode_t mode)
{
	int rc = 0, fd;

	/* A killed run may have left one. O_EXCL then makes sure that the file is new, and created
	 * by this process. */
	if (unlink(path) && errno != ENOENT)
		return -errno;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	for (size_t i = 0; i < parts && !rc; i++)
		rc = fs_write_fd(fd, part[i].iov_base, part[i].iov_len);
	if (!rc && fsync(fd))
		rc = -errno;
	if (close(fd) && !rc)
		rc = -errno;
	if (rc)
		unlink(path);
	return rc;
}

int fs_write_parts(const char *path, const struct iovec *part, size_t parts, mode_t mode, struct err *e)
{
	size_t n = strlen(path);
	char *tmp;
	int rc;

	if (!n || path[n - 1] == '/')
		return err_set(e, -EINVAL, STATUS_FAILED, n ? path : NULL, "write a file", "its name is empty");
	tmp = fs_path("%s.tmp", path);
	rc = write_and_sync(tmp, part, parts, mode);
	if (!rc && rename(tmp, path)) {
		rc = -errno;
		unlink(tmp);
	}
	free(tmp);
	return rc ? err_sys(e, rc, path, "write") : 0;
}

int fs_write_mode(const char *path, const void *data, size_t size, mode_t mode, struct err *e)
{
	return fs_write_parts(path, &(struct iovec){(void *)data, size}, 1, mode, e);
}

int fs_write(const char *path, const void *data, size_t size, struct err *e)
{
	return fs_write_mode(path, data, size, 0666, e);
}

/* The buffer is one byte larger than the maximum, to detect files that are too large. It is small
 * at first, because reading a file below /proc/sys, of which there are many, costs the kernel time
 * in proportion to the size of the buffer. */
static int grow(char **buf, size_t used, size_t *room, size_t max)
{
	size_t want = !*room ? FIRST_READ : *room < SECOND_READ ? SECOND_READ : *room * 2;
	char *bigger;

	if (used + 1 < *room)
		return 0;
	if (want > max + 2)
		want = max + 2;
	bigger = large_resize(*buf, want, 1);
	if (!bigger)
		return -ENOMEM;
	*buf = bigger;
	*room = want;
	return 0;
}

/* Some files below /proc/sys only return what fits in the first read, so they are read again with a
 * larger buffer. */
static bool is_to_be_read_again(int fd, size_t used)
{
	return used == FIRST_READ - 1 && lseek(fd, -(off_t)used, SEEK_CUR) >= 0;
}

int fs_read_fd(int fd, size_t max, char **data, size_t *size)
{
	char *buf = NULL;
	size_t used = 0, room = 0;
	int rc = 0;
	ssize_t n = 1;

	if (max > SSIZE_MAX / 4)
		max = SSIZE_MAX / 4;
	for (bool is_first = true; !rc && n;) {
		rc = grow(&buf, used, &room, max);
		if (rc)
			break;
		n = read(fd, buf + used, room - used - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			rc = -errno;
		else if ((used += (size_t)n) > max)
			rc = -EFBIG;
		else if (is_first && is_to_be_read_again(fd, used) && !(rc = grow(&buf, used, &room, max)))
			used = 0;
		is_first = false;
	}
	if (rc) {
		free(buf);
		return rc;
	}
	buf[used] = '\0';
	*data = or_abort(realloc(buf, used + 1));
	if (size)
		*size = used;
	return 0;
}

int fs_open(const char *path, int flags)
{
	/* With O_PATH, openat2() does not accept any flags but these. */
	if (!(flags & O_PATH))
		flags |= O_RDONLY | O_NONBLOCK | O_NOCTTY;
	return open_path(AT_FDCWD, path, flags, LINKS_REFUSED);
}

bool fs_is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static bool is_nothing(int rc)
{
	return rc == -ENOENT || rc == -ENOTDIR;
}

bool fs_is_missing(const char *path)
{
	int fd = fs_open(path, O_PATH);

	if (fd >= 0)
		close(fd);
	return is_nothing(fd);
}

bool fs_is_missing_or_empty(const char *path)
{
	int fd = fs_open(path, O_PATH);
	struct stat st;
	bool is_empty = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && !st.st_size;

	if (fd >= 0)
		close(fd);
	return is_empty || is_nothing(fd);
}

int fs_scandir(const char *path, struct dirent ***names, int (*filter)(const struct dirent *),
	       int (*compare)(const struct dirent **, const struct dirent **))
{
	int fd = fs_open(path, O_DIRECTORY), n;

	*names = NULL;
	if (fd < 0)
		return fd;
	n = scandirat(fd, ".", names, filter, compare);
	if (n < 0)
		n = -errno;
	close(fd);
	return n;
}

int fs_is_visible(const struct dirent *d)
{
	return *d->d_name != '.';
}

/* Accepts only a regular file that is not larger than `max`. */
static int check_regular(int fd, const char *path, size_t max, struct err *e)
{
	struct stat st;
	int rc = 0;

	if (fstat(fd, &st))
		rc = err_sys(e, -errno, path, "read");
	else if (S_ISDIR(st.st_mode))
		rc = err_sys(e, -EISDIR, path, "read");
	else if (!S_ISREG(st.st_mode))
		rc = err_set(e, -EINVAL, STATUS_FAILED, path, "read", "it is not a regular file");
	else if ((uintmax_t)st.st_size > max)
		rc = err_set(e, -EFBIG, STATUS_FAILED, path, "read", "it has %jd bytes; the limit is %zu",
			     (intmax_t)st.st_size, max);
	return rc;
}

int fs_read_opened(int fd, const char *path, size_t max, char **data, size_t *size, struct err *e)
{
	int rc;

	*data = NULL;
	if (size)
		*size = 0;
	if (fd < 0)
		return err_sys(e, fd, path, "read");
	rc = check_regular(fd, path, max, e);
	if (!rc) {
		rc = fs_read_fd(fd, max, data, size);
		rc = rc ? err_sys(e, rc, path, "read") : 0;
	}
	close(fd);
	return rc;
}

int fs_read(const char *path, size_t max, char **data, size_t *size, struct err *e)
{
	return fs_read_opened(fs_open(path, 0), path, max, data, size, e);
}

int fs_read_followed(const char *path, size_t max, char **data, size_t *size, struct err *e)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	return fs_read_opened(fd < 0 ? -errno : fd, path, max, data, size, e);
}

int fs_sync(const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	int rc = 0;

	if (fd < 0)
		return err_sys(e, -errno, path, "sync");
	if (fsync(fd))
		rc = err_sys(e, -errno, path, "sync");
	close(fd);
	return rc;
}

/* The state of a traversal. Paths are only for messages and lists; all accesses are relative to a
 * descriptor. */
struct walk {
	dev_t device;
	struct err *e;
	char **files;
	size_t count, room;
	size_t strip; /* length to remove from a path to make it relative */
};

typedef int visit_fn(struct walk *w, int dir, const char *name, const char *path, unsigned depth);

static int open_dir_at(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

static int visit_entries(struct walk *w, DIR *dir, const char *path, unsigned depth, visit_fn *visit)
{
	struct dirent *entry;
	char *child;
	int rc = 0;

	while (!rc && (errno = 0, entry = readdir(dir))) {
		if (is_dots(entry->d_name))
			continue;
		child = fs_path("%s/%s", path, entry->d_name);
		rc = visit(w, dirfd(dir), entry->d_name, child, depth);
		free(child);
	}
	return !rc && errno ? err_sys(w->e, -errno, path, "list") : rc;
}

/* Call `visit` for every entry of the directory open as `fd`, which is closed. */
static int walk_dir(struct walk *w, int fd, const char *path, unsigned depth, visit_fn *visit)
{
	struct stat st;
	DIR *dir;
	int rc;

	if (fstat(fd, &st))
		rc = err_sys(w->e, -errno, path, "list");
	else if (st.st_dev != w->device)
		rc = err_sys(w->e, -EXDEV, path, "enter");
	else if (depth > DEPTH_MAX)
		rc = err_set(w->e, -ELOOP, STATUS_FAILED, path, "enter", "more than %d directories deep", DEPTH_MAX);
	else if (!(dir = fdopendir(fd)))
		rc = err_sys(w->e, -errno, path, "list");
	else {
		rc = visit_entries(w, dir, path, depth, visit);
		closedir(dir);
		return rc;
	}
	close(fd);
	return rc;
}

static int remove_entry(struct walk *w, int dir, const char *name, const char *path, unsigned depth)
{
	int fd, rc;

	/* Most entries are files: try that first. */
	if (!unlinkat(dir, name, 0) || errno == ENOENT)
		return 0;
	if (errno != EISDIR)
		return err_sys(w->e, -errno, path, "remove");
	fd = open_dir_at(dir, name);
	if (fd < 0)
		return err_sys(w->e, fd, path, "remove");
	rc = walk_dir(w, fd, path, depth + 1, remove_entry);
	if (!rc && unlinkat(dir, name, AT_REMOVEDIR) && errno != ENOENT)
		rc = err_sys(w->e, -errno, path, "remove");
	return rc;
}

/* Remove trailing slashes, which would make the kernel follow a symbolic link. "/" itself is kept. */
static char *without_slash(const char *path)
{
	char *copy = fs_path("%s", path);
	size_t n = strlen(copy);

	while (n > 1 && copy[n - 1] == '/')
		copy[--n] = '\0';
	return copy;
}

int fs_remove_tree(const char *path, struct err *e)
{
	char *plain = without_slash(path);
	struct walk w = {.e = e};
	struct stat st;
	int rc = 0;

	if (lstat(plain, &st)) {
		if (errno != ENOENT)
			rc = err_sys(e, -errno, plain, "remove");
	} else if (!S_ISDIR(st.st_mode)) {
		rc = err_set(e, -ENOTDIR, STATUS_FAILED, plain, "remove", "it is not a directory");
	} else {
		w.device = st.st_dev;
		rc = remove_entry(&w, AT_FDCWD, plain, plain, 0);
	}
	free(plain);
	return rc;
}

static void keep_file(struct walk *w, const char *path)
{
	if (w->count + 2 > w->room) {
		w->room = w->room ? w->room * 2 : 64;
		w->files = or_abort(reallocarray(w->files, w->room, sizeof(*w->files)));
	}
	w->files[w->count++] = fs_path("%s", path + w->strip);
	w->files[w->count] = NULL;
}

static int list_entry(struct walk *w, int dir, const char *name, const char *path, unsigned depth)
{
	struct stat st;
	int fd;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return err_sys(w->e, -errno, path, "list");
	if (S_ISREG(st.st_mode)) {
		keep_file(w, path);
		return 0;
	}
	if (!S_ISDIR(st.st_mode))
		return err_set(w->e, -EINVAL, STATUS_FAILED, path, "list", "it is %s, where only files belong",
			       S_ISLNK(st.st_mode) ? "a symbolic link" : "a special file");
	fd = open_dir_at(dir, name);
	return fd < 0 ? err_sys(w->e, fd, path, "list") : walk_dir(w, fd, path, depth + 1, list_entry);
}

static int compare_file_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int fs_files(const char *dir, char ***files, size_t *count, struct err *e)
{
	char *plain = without_slash(dir);
	struct walk w = {.e = e, .strip = strlen(plain) + 1};
	struct stat st;
	int fd = open(plain, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
	int rc;

	if (fd < 0 || fstat(fd, &st)) {
		rc = err_sys(e, -errno, plain, "list");
		if (fd >= 0)
			close(fd);
		goto out;
	}
	w.device = st.st_dev;
	w.files = or_abort(calloc(1, sizeof(*w.files)));
	w.room = 1;
	rc = walk_dir(&w, fd, plain, 0, list_entry);
	if (rc) {
		fs_files_free(w.files);
		goto out;
	}
	qsort(w.files, w.count, sizeof(*w.files), compare_file_names);
	*files = w.files;
	if (count)
		*count = w.count;
out:
	free(plain);
	return rc;
}

void fs_files_free(char **files)
{
	for (char **f = files; f && *f; f++)
		free(*f);
	free(files);
}

int fs_free_bytes(const char *path, unsigned long long *bytes, struct err *e)
{
	struct statvfs st;
	unsigned long long total;

	*bytes = 0;
	while (statvfs(path, &st))
		if (errno != EINTR)
			return err_sys(e, -errno, path, "find out the free space");
	if (__builtin_mul_overflow((unsigned long long)st.f_bavail, (unsigned long long)st.f_frsize, &total))
		total = ULLONG_MAX;
	*bytes = total;
	return 0;
}
