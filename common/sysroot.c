#include "common/sysroot.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"

#define LINE_MAX_BYTES 65536

/* A rename somewhere on the machine makes openat2 give up with EAGAIN; it asks to be called
 * again. */
#define RETRIES 100

static int open_inside(int root, const char *path, int flags)
{
	struct open_how how = {.flags = (unsigned)flags, .resolve = RESOLVE_IN_ROOT};
	long fd = -1;

	for (int i = 0; i < RETRIES; i++) {
		fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	return fd < 0 ? -errno : (int)fd;
}

/* Relative to the root. */
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

/* A descriptor or a negative errno. Below "/" there is no outside, so plain openat does there. */
static int open_path(const struct sysroot *r, const char *path, int flags)
{
	flags |= O_CLOEXEC;
	if (!*path)
		return -ENOENT;
	return r->live ? open_live(r->fd, path, flags) : open_inside(r->fd, path, flags);
}

/* What is at the path, which is not opened. 0 or a negative errno. */
static int stat_path(const struct sysroot *r, const char *path, struct stat *st)
{
	int fd, rc;

	if (r->live && *path)
		return fstatat(r->fd, below_root(path), st, 0) ? -errno : 0;
	fd = open_path(r, path, O_PATH);
	if (fd < 0)
		return fd;
	rc = fstat(fd, st) ? -errno : 0;
	close(fd);
	return rc;
}

/* However it is spelt. */
static bool is_live(int fd)
{
	struct stat given, real;

	return !fstat(fd, &given) && !stat("/", &real) && given.st_dev == real.st_dev && given.st_ino == real.st_ino;
}

/* Anything less than openat2 would follow the links of a recorded machine into this one. */
static int check_kernel(const struct sysroot *r, struct err *e)
{
	int fd = open_inside(r->fd, ".", O_PATH | O_CLOEXEC);

	if (fd == -ENOSYS)
		return err_set(e, fd, STATUS_IMPOSSIBLE, r->path, "open as a root",
			       "the kernel lacks openat2, which keeps links inside; use Linux 5.6 or later");
	if (fd < 0)
		return err_sys(e, fd, r->path, "open as a root");
	close(fd);
	return 0;
}

int sysroot_open(struct sysroot *r, const char *path, struct err *e)
{
	int rc;

	path = path ? path : "/";
	r->fd = -1;
	if ((size_t)snprintf(r->path, sizeof(r->path), "%s", path) >= sizeof(r->path))
		return err_sys(e, -ENAMETOOLONG, path, "open as a root");
	r->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (r->fd < 0)
		return err_sys(e, -errno, path, "open as a root");
	r->live = is_live(r->fd);
	rc = r->live ? 0 : check_kernel(r, e);
	if (rc)
		sysroot_close(r);
	return rc;
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

/* Open a file for input or output, and tell its mode (NULL: not). It is looked at first: opening a
 * device or FIFO already does something to it. */
static int open_file(const struct sysroot *r, const char *path, int flags, int *mode)
{
	struct stat st;
	int rc = stat_path(r, path, &st), fd;

	if (!rc)
		rc = check_kind(r, &st);
	if (rc)
		return rc;
	fd = open_path(r, path, flags | O_NONBLOCK | O_NOCTTY);
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

/* The beginning of a file, at most `size` - 1 bytes, in `buf`. */
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

int sysroot_write(const struct sysroot *r, const char *path, const char *text, size_t length)
{
	int fd = open_file(r, path, O_WRONLY, NULL);
	int rc = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	/* A kernel file is replaced by what is written; a recorded one keeps what it had behind
	 * that. */
	if (!r->live && ftruncate(fd, 0))
		rc = -errno;
	/* A long list (ip_local_reserved_ports) is taken a page at a time, the rest added to it. */
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
	int fd = open_path(r, path, O_PATH | O_NOFOLLOW);
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return fd;
	/* For an O_PATH descriptor of anything but a link, readlinkat would say ENOENT, as if there
	 * were nothing. */
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

/* Names or paths as they are found. */
struct names {
	char **items;
	size_t count;
};

/* Takes `name` over. */
static int names_add(struct names *l, char *name)
{
	char **bigger = name ? reallocarray(l->items, l->count + 2, sizeof(*bigger)) : NULL;

	if (!bigger) {
		free(name);
		return -ENOMEM;
	}
	l->items = bigger;
	l->items[l->count++] = name;
	l->items[l->count] = NULL;
	return 0;
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

/* Sort and hand over; or, after a failure, drop. */
static int names_finish(struct names *l, int rc, char ***names)
{
	if (!rc && !l->items && !(l->items = calloc(1, sizeof(*l->items))))
		rc = -ENOMEM;
	if (rc) {
		sysroot_names_free(l->items);
		return rc;
	}
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
	int fd = open_path(r, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
	struct names l = {NULL, 0};
	struct dirent *entry;
	DIR *dir;
	int rc = 0;

	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		rc = -errno;
		close(fd);
		return rc;
	}
	while (!rc && (errno = 0, entry = readdir(dir)))
		if (is_wanted(entry->d_name, pattern))
			rc = names_add(&l, strdup(entry->d_name));
	if (!rc && errno)
		rc = -errno;
	closedir(dir);
	return names_finish(&l, rc, names);
}

/* One directory's part in a glob: all of `base` + "/" + what matches `component`. */
static int expand_one(const struct sysroot *r, const char *base, const char *component, struct names *out)
{
	char *path, **found;
	int rc, n;

	if (!strpbrk(component, "*?[")) {
		path = fs_path("%s/%s", base, component);
		if (sysroot_exists(r, path))
			return names_add(out, path);
		free(path);
		return 0;
	}
	n = sysroot_list(r, *base ? base : "/", component, &found);
	/* What cannot be listed matches nothing, as in a shell. */
	if (n < 0)
		return n == -ENOMEM || n == -EMFILE ? n : 0;
	rc = 0;
	for (int i = 0; i < n && !rc; i++)
		rc = names_add(out, fs_path("%s/%s", base, found[i]));
	sysroot_names_free(found);
	return rc;
}

/* From all paths so far to all that are one component longer. */
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
	char *copy = strdup(pattern), *rest = copy, *component;
	int rc = copy ? names_add(&l, strdup("")) : -ENOMEM;

	while (!rc && (component = strsep(&rest, "/")))
		if (*component)
			rc = expand_all(r, &l, component);
	free(copy);
	return names_finish(&l, rc, paths);
}
