#include "tuning/machine/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cpulist.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/open_path.h"
#include "common/or_abort.h"

#define HABITS_MAX (1 << 20)

struct habit {
	char *path;
	int error;   /* errno of a write, or 0 */
	char *reads; /* content after a write, or NULL */
	char *sets;  /* a path that gets `reads` instead, or NULL */
};

static const struct {
	const char *name;
	int number;
} errors[] = {
    {"EIO", EIO},	{"EPERM", EPERM},   {"EROFS", EROFS},		{"EBUSY", EBUSY},
    {"EACCES", EACCES}, {"EINVAL", EINVAL}, {"ENOSPC", ENOSPC},		{"EAGAIN", EAGAIN},
    {"ENOENT", ENOENT}, {"ERANGE", ERANGE}, {"EOPNOTSUPP", EOPNOTSUPP}, {"ENOTSUPP", MACHINE_ENOTSUPP},
    {"ENODEV", ENODEV}, {"ENXIO", ENXIO},   {"ENOSYS", ENOSYS},
};

static int error_number(const char *name)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (!strcmp(errors[i].name, name))
			return errors[i].number;
	return 0;
}

/* "PATH write ERRNO", "PATH reads TEXT" or "PATH sets OTHER TEXT"; false for anything else. */
static bool read_habit(char *line, struct habit *h)
{
	char *path = strsep(&line, " "), *verb = strsep(&line, " ");

	if (!line || path[0] != '/')
		return false;
	*h = (struct habit){.path = fs_path("%s", path)};
	if (!strcmp(verb, "write") && (h->error = error_number(line)))
		return true;
	if (!strcmp(verb, "reads")) {
		h->reads = fs_path("%s\n", line);
		return true;
	}
	if (!strcmp(verb, "sets") && line[0] == '/' && strchr(line, ' ')) {
		h->sets = fs_path("%s", strsep(&line, " "));
		h->reads = fs_path("%s\n", line);
		return true;
	}
	free(h->path);
	return false;
}

static int add_habit(struct machine *m, char *line, struct err *e)
{
	struct habit h;

	if (!*line || *line == '#')
		return 0;
	if (!read_habit(line, &h))
		return err_set(e, -EINVAL, STATUS_USAGE, m->root.path, "read its habits", "'%s' is not a habit", line);
	m->habits = or_abort(reallocarray(m->habits, m->habit_count + 1, sizeof(*m->habits)));
	m->habits[m->habit_count++] = h;
	return 0;
}

static int load_habits(struct machine *m, struct err *e)
{
	char *text, *rest, *line;
	int rc = m->root.live ? -ENOENT : sysroot_read(&m->root, "/habits", HABITS_MAX, &text, NULL);

	if (rc == -ENOENT)
		return 0;
	if (rc)
		return err_sys(e, rc, m->root.path, "read its habits");
	for (rest = text; !rc && (line = strsep(&rest, "\n"));)
		rc = add_habit(m, line, e);
	free(text);
	return rc;
}

static long kill_after(void)
{
	const char *text = getenv("KBTUNE_KILL_AFTER");

	return text && *text ? strtol(text, NULL, 10) : -1;
}

int machine_open(struct machine *m, const char *sysroot, struct err *e)
{
	int rc;

	*m = (struct machine){.kill_after = kill_after(), .state_fd = -1};
	if (!sysroot && getenv("KBTUNE_SYSROOT"))
		sysroot = getenv("KBTUNE_SYSROOT");
	rc = sysroot_open(&m->root, sysroot, e);
	if (rc) {
		if (e)
			e->status = STATUS_USAGE;
		return rc;
	}
	rc = load_habits(m, e);
	if (rc)
		machine_close(m);
	return rc;
}

void machine_close(struct machine *m)
{
	for (size_t i = 0; i < m->habit_count; i++) {
		free(m->habits[i].path);
		free(m->habits[i].reads);
		free(m->habits[i].sets);
	}
	free(m->habits);
	m->habits = NULL;
	m->habit_count = 0;
	if (m->state_fd >= 0)
		close(m->state_fd);
	m->state_fd = -1;
	sysroot_close(&m->root);
}

void machine_changed(struct machine *m)
{
	m->writes++;
	if (m->kill_after >= 0 && m->writes >= m->kill_after)
		raise(SIGKILL);
}

static const struct habit *find_habit(const struct machine *m, const char *path)
{
	for (size_t i = 0; i < m->habit_count; i++)
		if (!m->habits[i].sets && !strcmp(m->habits[i].path, path))
			return &m->habits[i];
	return NULL;
}

int machine_refuses(const struct machine *m, const char *path)
{
	const struct habit *h = find_habit(m, path);

	return h ? -h->error : 0;
}

int machine_write(struct machine *m, const char *path, const char *text, size_t length)
{
	const struct habit *h = find_habit(m, path);
	int rc;

	/* KBTUNE_KILL_AFTER=0: before the first write */
	if (m->kill_after == 0)
		raise(SIGKILL);
	if (h && h->error)
		return -h->error;
	if (h)
		text = h->reads, length = strlen(h->reads);
	rc = sysroot_write(&m->root, path, text, length);
	for (size_t i = 0; i < m->habit_count && !rc; i++)
		if (m->habits[i].sets && !strcmp(m->habits[i].path, path))
			sysroot_write(&m->root, m->habits[i].sets, m->habits[i].reads, strlen(m->habits[i].reads));
	if (!rc)
		machine_changed(m);
	return rc;
}

int machine_openat(const struct machine *m, const char *path, int flags)
{
	int fd;

	path += strspn(path, "/");
	path = *path ? path : ".";
	if (!m->root.live)
		return open_path(m->root.fd, path, flags, LINKS_INSIDE);
	fd = openat(m->root.fd, path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Open the folder that contains `path`; `*name` is its last component. */
static int open_parent(const struct machine *m, const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	char *parent;
	int fd;

	if (!slash || !slash[1] || !strcmp(slash, "/.") || !strcmp(slash, "/.."))
		return -EINVAL;
	parent = or_abort(strndup(path, (size_t)(slash - path)));
	*name = slash + 1;
	fd = machine_openat(m, parent, O_PATH | O_DIRECTORY);
	free(parent);
	return fd;
}

int machine_mkdir(struct machine *m, const char *path)
{
	const char *name;
	int fd = open_parent(m, path, &name), rc;

	if (fd < 0)
		return fd;
	rc = mkdirat(fd, name, 0755) ? -errno : 0;
	close(fd);
	if (!rc)
		machine_changed(m);
	return rc;
}

static int remove_at(struct machine *m, const char *path, int flags)
{
	const char *name;
	int fd = open_parent(m, path, &name), rc;

	if (fd < 0)
		return fd;
	rc = unlinkat(fd, name, flags) ? -errno : 0;
	close(fd);
	if (!rc)
		machine_changed(m);
	return rc;
}

int machine_rmdir(struct machine *m, const char *path)
{
	return remove_at(m, path, AT_REMOVEDIR);
}

int machine_unlink(struct machine *m, const char *path)
{
	return remove_at(m, path, 0);
}

int machine_create(struct machine *m, const char *path, const char *text, size_t length, mode_t mode)
{
	const char *name;
	int dir = open_parent(m, path, &name), fd, rc = 0;
	ssize_t n;

	if (dir < 0)
		return dir;
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	close(dir);
	if (fd < 0)
		return -errno;
	n = write(fd, text, length);
	if (n != (ssize_t)length)
		rc = n < 0 ? -errno : -EIO;
	close(fd);
	if (!rc)
		machine_changed(m);
	return rc;
}

int machine_mode(const struct machine *m, const char *path, mode_t *mode)
{
	int fd = machine_openat(m, path, O_PATH), rc;
	struct stat st;

	if (fd < 0)
		return fd;
	rc = fstat(fd, &st) ? -errno : 0;
	close(fd);
	if (!rc)
		*mode = st.st_mode & 07777;
	return rc;
}

int machine_may_write(const struct machine *m, const char *path)
{
	const char *name;
	int fd = open_parent(m, path, &name), rc;

	if (fd < 0)
		return fd;
	rc = faccessat(fd, name, W_OK, AT_EACCESS) ? -errno : machine_refuses(m, path) == -EROFS ? -EROFS : 0;
	close(fd);
	return rc;
}

int machine_foresee_write(const struct machine *m, const char *path, char *why, size_t size)
{
	const int rc = machine_may_write(m, path);

	if (rc == -EROFS)
		snprintf(why, size, "it is mounted read-only (a container?)");
	else if (rc)
		err_cause(rc, why, size);
	return rc;
}

int machine_read(const struct machine *m, const char *path, char **text)
{
	size_t length;
	int rc = sysroot_read(&m->root, path, MACHINE_VALUE_MAX, text, &length);

	/* A text ends at the first NUL, so anything after it could not be restored. */
	if (!rc && strlen(*text) != length) {
		free(*text);
		*text = NULL;
		rc = -EILSEQ;
	}
	return rc;
}

int machine_read_cpus(const struct machine *m, const char *path, struct cpulist *cpus)
{
	char *text;
	int rc = machine_read(m, path, &text);

	if (rc)
		return rc;
	rc = cpulist_parse(text, cpus, NULL, 0);
	free(text);
	return rc;
}

int machine_put_back(struct machine *m, const char *path, const char *raw)
{
	char *text;
	int rc = machine_read(m, path, &text);

	if (rc)
		return rc;
	if (strcmp(text, raw))
		rc = machine_write(m, path, raw, strlen(raw));
	free(text);
	return rc;
}
