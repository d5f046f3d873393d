#include "common/sysroot.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/open_path.h"
#include "common/or_abort.h"

#define LINE_MAX_BYTES 65536

/* The path relative to the root. */
static const char *below_root(const char *path)
{
	path += strspn(path, "/");
	return *path ? path : ".";
}

static int open_live(int root, const char *path, int flags)
{
	int fd;

	do
		fd = openat(root, below_root(path), flags);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : fd;
}

/* A descriptor or a negative errno. Nothing is outside of "/", so openat() is sufficient there. */
static int open_rooted(const struct sysroot *r, const char *path, int flags)
{
	flags |= O_CLOEXEC;
	if (!*path)
		return -ENOENT;
	return r->live ? open_live(r->fd, path, flags) : open_path(r->fd, path, flags, LINKS_INSIDE);
}

/* stat() of a path without opening it. 0 or a negative errno. */
static int stat_path(const struct sysroot *r, const char *path, struct stat *st)
{
	int fd, rc;

	if (r->live && *path)
		return fstatat(r->fd, below_root(path), st, 0) ? -errno : 0;
	fd = open_rooted(r, path, O_PATH);
	if (fd < 0)
		return fd;
	rc = fstat(fd, st) ? -errno : 0;
	close(fd);
	return rc;
}

/* Is this the live root, however its path is written? */
static bool is_live(int fd)
{
	struct stat given, real;

	return !fstat(fd, &given) && !stat("/", &real) && given.st_dev == real.st_dev && given.st_ino == real.st_ino;
}

int sysroot_open(struct sysroot *r, const char *path, struct err *e)
{
	path = path ? path : "/";
	r->fd = -1;
	if ((size_t)snprintf(r->path, sizeof(r->path), "%s", path) >= sizeof(r->path))
		return err_sys(e, -ENAMETOOLONG, path, "open as a root");
	r->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (r->fd < 0)
		return err_sys(e, -errno, path, "open as a root");
	r->live = is_live(r->fd);
	return 0;
}

void sysroot_close(struct sysroot *r)
{
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
}

static int check_kind(const struct sysroot *r, const struct stat *st)
{
	if (S_ISDIR(st->st_mode))
		return -EISDIR;
	return S_ISREG(st->st_mode) || (S_ISCHR(st->st_mode) && r->live) ? 0 : -EINVAL;
}

static int check_opened(const struct sysroot *r, int fd, int *mode)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (mode)
		*mode = (int)st.st_mode;
	return check_kind(r, &st);
}

/* Open a file for input or output, and return its mode (unless `mode` is NULL). Its type is checked
 * first, because just opening a device or FIFO can have effects. */
static int open_file(const struct sysroot *r, const char *path, int flags, int *mode)
{
	struct stat st;
	int rc = stat_path(r, path, &st), fd;

	if (!rc)
		rc = check_kind(r, &st);
	if (rc)
		return rc;
	fd = open_rooted(r, path, flags | O_NONBLOCK | O_NOCTTY);
	rc = fd < 0 ? fd : check_opened(r, fd, mode);
	if (rc < 0 && fd >= 0)
		close(fd);
	return rc < 0 ? rc : fd;
}

int sysroot_read_mode(const struct sysroot *r, const char *path, size_t max, char **text, size_t *length, int *mode)
{
	int fd = open_file(r, path, O_RDONLY, mode);
	int rc;

	if (fd < 0)
		return fd;
	rc = fs_read_fd(fd, max, text, length);
	close(fd);
	return rc;
}

int sysroot_read(const struct sysroot *r, const char *path, size_t max, char **text, size_t *length)
{
	return sysroot_read_mode(r, path, max, text, length, NULL);
}

/* Read the beginning of a file, at most `size` - 1 bytes, to `buf`. */
static int read_start(const struct sysroot *r, const char *path, char *buf, size_t size)
{
	int fd = open_file(r, path, O_RDONLY, NULL);
	size_t used = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	do {
		n = read(fd, buf + used, size - 1 - used);
		if (n > 0)
			used += (size_t)n;
	} while ((n > 0 && used < size - 1) || (n < 0 && errno == EINTR));
	n = n < 0 ? -errno : 0;
	close(fd);
	buf[used] = '\0';
	return (int)n;
}

int sysroot_line(const struct sysroot *r, const char *path, char *buf, size_t size)
{
	size_t n;
	int rc;

	if (!size)
		return -EINVAL;
	rc = read_start(r, path, buf, size);
	if (rc) {
		buf[0] = '\0';
		return rc;
	}
	for (n = strcspn(buf, "\n"); n && isspace((unsigned char)buf[n - 1]);)
		n--;
	buf[n] = '\0';
	return 0;
}

static int to_int(char *text, int64_t *value)
{
	char *start = text + strspn(text, " \t"), *end;
	char *digits = start + (*start == '-' || *start == '+');
	bool is_hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
	long long v;

	if (!isxdigit((unsigned char)digits[is_hex ? 2 : 0]))
		return -EINVAL;
	errno = 0;
	v = strtoll(start, &end, is_hex ? 16 : 10);
	if (end == start || end[strspn(end, " \t\n")])
		return -EINVAL;
	if (errno)
		return -ERANGE;
	*value = v;
	return 0;
}

int sysroot_int(const struct sysroot *r, const char *path, int64_t *value)
{
	char *text;
	size_t length;
	int rc = sysroot_read(r, path, LINE_MAX_BYTES, &text, &length);

	if (rc == -EFBIG)
		return -EINVAL;
	if (rc)
		return rc;
	rc = strlen(text) == length ? to_int(text, value) : -EINVAL;
	free(text);
	return rc;
}

/* A file that only the kernel writes: in a recorded machine, whoever may give himself the right is the kernel. */
static int open_read_only(const struct sysroot *r, const char *path)
{
	int mode, fd = -EACCES, file = open_file(r, path, O_RDONLY, &mode);

	if (file < 0)
		return file;
	if (!fchmod(file, (mode_t)(mode & ALLPERMS) | S_IWUSR)) {
		fd = open_file(r, path, O_WRONLY, NULL);
		fchmod(file, (mode_t)(mode & ALLPERMS));
	}
	close(file);
	return fd;
}

int sysroot_write(const struct sysroot *r, const char *path, const char *text, size_t length)
{
	int fd = open_file(r, path, O_WRONLY, NULL);
	int rc = 0;
	ssize_t n;

	if (fd == -EACCES && !r->live)
		fd = open_read_only(r, path);
	if (fd < 0)
		return fd;
	/* Writing replaces the content of a kernel file, but a recorded file would keep the rest of
	 * its content. */
	if (!r->live && ftruncate(fd, 0))
		rc = -errno;
	/* The kernel takes a long list (ip_local_reserved_ports) a page at a time; further writes
	 * append to it. */
	while (!rc && (n = write(fd, text, length)) != (ssize_t)length)
		if (n > 0)
			text += n, length -= (size_t)n;
		else if (!n || errno != EINTR)
			rc = n < 0 ? -errno : -EIO;
	if (close(fd) && !rc)
		rc = -errno;
	return rc;
}

int sysroot_readlink(const struct sysroot *r, const char *path, char *buf, size_t size)
{
	int fd = open_rooted(r, path, O_PATH | O_NOFOLLOW);
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return fd;
	/* For an O_PATH descriptor of something other than a symbolic link, readlinkat() fails with
	 * ENOENT, as if the file did not exist. */
	if (fstat(fd, &st))
		n = -errno;
	else if (!S_ISLNK(st.st_mode))
		n = -EINVAL;
	else if ((n = readlinkat(fd, "", buf, size)) < 0)
		n = -errno;
	else if ((size_t)n >= size)
		n = -ENAMETOOLONG;
	close(fd);
	if (n < 0)
		return (int)n;
	buf[n] = '\0';
	return 0;
}

int sysroot_mode(const struct sysroot *r, const char *path)
{
	struct stat st;
	int rc = stat_path(r, path, &st);

	return rc ? rc : (int)st.st_mode;
}

bool sysroot_exists(const struct sysroot *r, const char *path)
{
	struct stat st;

	return !stat_path(r, path, &st);
}

/* A list of names or paths found. */
struct names {
	char **items;
	size_t count;
};

/* Takes `name`. */
static void names_add(struct names *l, char *name)
{
	l->items = or_abort(reallocarray(l->items, l->count + 2, sizeof(*l->items)));
	l->items[l->count++] = name;
	l->items[l->count] = NULL;
}

void sysroot_names_free(char **names)
{
	for (char **n = names; n && *n; n++)
		free(*n);
	free(names);
}

static int compare_natural(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* Sort the list and return it; after a failure, free it. */
static int names_finish(struct names *l, int rc, char ***names)
{
	if (rc) {
		sysroot_names_free(l->items);
		return rc;
	}
	if (!l->items)
		l->items = or_abort(calloc(1, sizeof(*l->items)));
	qsort(l->items, l->count, sizeof(*l->items), compare_natural);
	*names = l->items;
	return (int)l->count;
}

static bool is_wanted(const char *name, const char *pattern)
{
	return strcmp(name, ".") && strcmp(name, "..") && (!pattern || !fnmatch(pattern, name, 0));
}

int sysroot_list(const struct sysroot *r, const char *path, const char *pattern, char ***names)
{
	int fd = open_rooted(r, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
	struct names l = {NULL, 0};
	struct dirent *entry;
	DIR *dir;
	int rc;

	*names = NULL;
	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		rc = -errno;
		close(fd);
		return rc;
	}
	while ((errno = 0, entry = readdir(dir)))
		if (is_wanted(entry->d_name, pattern))
			names_add(&l, or_abort(strdup(entry->d_name)));
	rc = -errno;
	closedir(dir);
	return names_finish(&l, rc, names);
}

/* Expand a glob in one directory: `base` + "/" + everything that matches `component`. */
static int expand_one(const struct sysroot *r, const char *base, const char *component, struct names *out)
{
	char *path, **found;
	int n;

	if (!strpbrk(component, "*?[")) {
		path = fs_path("%s/%s", base, component);
		if (sysroot_exists(r, path))
			names_add(out, path);
		else
			free(path);
		return 0;
	}
	n = sysroot_list(r, *base ? base : "/", component, &found);
	/* A directory that cannot be read matches nothing, as in a shell. */
	if (n < 0)
		return n == -ENOMEM || n == -EMFILE ? n : 0;
	for (int i = 0; i < n; i++)
		names_add(out, fs_path("%s/%s", base, found[i]));
	sysroot_names_free(found);
	return 0;
}

/* Extend all paths so far by one component. */
static int expand_all(const struct sysroot *r, struct names *paths, const char *component)
{
	struct names longer = {NULL, 0};
	int rc = 0;

	for (size_t i = 0; i < paths->count && !rc; i++)
		rc = expand_one(r, paths->items[i], component, &longer);
	sysroot_names_free(paths->items);
	*paths = longer;
	return rc;
}

int sysroot_glob(const struct sysroot *r, const char *pattern, char ***paths)
{
	struct names l = {NULL, 0};
	char *copy = or_abort(strdup(pattern)), *rest = copy, *component;
	int rc = 0;

	names_add(&l, or_abort(strdup("")));
	while (!rc && (component = strsep(&rest, "/")))
		if (*component)
			rc = expand_all(r, &l, component);
	free(copy);
	return names_finish(&l, rc, paths);
}
