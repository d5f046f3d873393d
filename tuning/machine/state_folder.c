#include "tuning/machine/state_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "tuning/machine/machine.h"

#define LASTING_PARENT "/var/lib"

/* Relative to the root of the machine. Users other than root cannot write to /run. */
char *state_folder_below_root(const struct machine *m, char *buf, size_t size)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (!m->root.live || geteuid() == 0)
		snprintf(buf, size, "/run/kbtune");
	else if (runtime && runtime[0] == '/')
		snprintf(buf, size, "%s/kbtune", runtime);
	else
		snprintf(buf, size, "/run/user/%u/kbtune", (unsigned)geteuid());
	return buf;
}

char *state_folder_path(const struct machine *m, char *buf, size_t size)
{
	char below[1024];

	snprintf(buf, size, "%s%s", m->root.live ? "" : m->root.path, state_folder_below_root(m, below, sizeof(below)));
	return buf;
}

static int make_folder(const struct machine *m, const char *path)
{
	char *parent = fs_path("%s", path), *slash = strrchr(parent, '/');
	int fd, rc;

	*slash = '\0';
	fd = machine_openat(m, parent, O_PATH | O_DIRECTORY);
	/* A recorded machine may not have /run. */
	if (fd == -ENOENT && !m->root.live && strrchr(parent, '/') == parent && !mkdirat(m->root.fd, parent + 1, 0755))
		fd = machine_openat(m, parent, O_PATH | O_DIRECTORY);
	rc = fd < 0 ? fd : mkdirat(fd, slash + 1, 0700) && errno != EEXIST ? -errno : 0;
	if (fd >= 0)
		close(fd);
	free(parent);
	return rc;
}

/* Check that only we can write to a file or folder, as others could otherwise make us write anything as root. 0, or
 * -EPERM and `e` (STATUS_USAGE). */
static int state_folder_check_ours(const struct stat *st, const char *path, struct err *e)
{
	if (st->st_uid != geteuid())
		return err_set(e, -EPERM, STATUS_USAGE, path, "trust", "it belongs to user %u, not to %u",
			       (unsigned)st->st_uid, (unsigned)geteuid());
	if (st->st_mode & 077)
		return err_set(e, -EPERM, STATUS_USAGE, path, "trust",
			       "others have access to it (mode %04o); expected 0700 or 0600",
			       (unsigned)st->st_mode & 07777);
	return 0;
}

/* `below`: its path below the root. */
static int open_existing(const struct machine *m, const char *below, struct err *e)
{
	int fd = machine_openat(m, below, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), rc;
	char path[5200];
	struct stat st;

	snprintf(path, sizeof(path), "%s%s", m->root.live ? "" : m->root.path, below);
	if (fd == -ENOENT)
		return fd;
	if (fd < 0)
		return err_sys(e, fd, path, "open");
	rc = fstat(fd, &st) ? err_sys(e, -errno, path, "open") : state_folder_check_ours(&st, path, e);
	if (rc) {
		close(fd);
		return rc;
	}
	return fd;
}

int state_folder_open(struct machine *m, bool make, struct err *e)
{
	char below[1024], path[5200];
	int rc;

	if (m->state_fd >= 0)
		return 0;
	state_folder_below_root(m, below, sizeof(below));
	rc = make ? make_folder(m, below) : 0;
	if (rc) {
		err_sys(e, rc, state_folder_path(m, path, sizeof(path)), "make the journal's folder");
		if (e && (rc == -EACCES || rc == -EROFS || rc == -EPERM))
			e->status = STATUS_IMPOSSIBLE;
		return rc;
	}
	rc = open_existing(m, below, e);
	if (rc < 0)
		return rc;
	m->state_fd = rc;
	return 0;
}

int state_folder_open_lasting(const struct machine *m, bool make, struct err *e)
{
	int rc;

	if ((m->root.live && geteuid() != 0) || (!m->root.live && !sysroot_exists(&m->root, LASTING_PARENT)))
		return -ENOENT;
	rc = make ? make_folder(m, STATE_FOLDER_LASTING) : 0;
	return rc ? err_sys(e, rc, STATE_FOLDER_LASTING, "make the folder of the lasting journal")
		  : open_existing(m, STATE_FOLDER_LASTING, e);
}

void state_folder_remove_lasting(struct machine *m)
{
	int fd = machine_openat(m, LASTING_PARENT, O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return;
	unlinkat(fd, "kbtune", AT_REMOVEDIR);
	close(fd);
}

#define FILE_MAX_BYTES ((size_t)64 << 20)

int state_folder_read(int dir, const char *name, const char *path, char **text, size_t *length, struct err *e)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), rc;
	struct stat st;

	if (fd < 0 && errno == ELOOP)
		return err_set(e, -ELOOP, STATUS_USAGE, path, "trust", "it is a symbolic link");
	if (fd < 0)
		return errno == ENOENT ? -ENOENT : err_sys(e, -errno, path, "read");
	if (fstat(fd, &st))
		rc = err_sys(e, -errno, path, "read");
	else if (!S_ISREG(st.st_mode))
		rc = err_set(e, -EINVAL, STATUS_USAGE, path, "trust", "it is not a regular file");
	else
		rc = state_folder_check_ours(&st, path, e);
	if (!rc && (rc = fs_read_fd(fd, FILE_MAX_BYTES, text, length)))
		err_sys(e, rc, path, "read");
	close(fd);
	return rc;
}

static int write_aside(int dir, const char *aside, const char *name, const char *text)
{
	int fd, rc;

	if (unlinkat(dir, aside, 0) && errno != ENOENT)
		return -errno;
	fd = openat(dir, aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	rc = fs_write_fd(fd, text, strlen(text));
	if (!rc && fsync(fd))
		rc = -errno;
	if (close(fd) && !rc)
		rc = -errno;
	if (!rc && renameat(dir, aside, dir, name))
		rc = -errno;
	return rc;
}

int state_folder_write(int dir, const char *name, const char *text)
{
	char *aside = fs_path("%s.tmp", name);
	int rc = write_aside(dir, aside, name, text);

	if (rc)
		unlinkat(dir, aside, 0);
	free(aside);
	return !rc && fsync(dir) ? -errno : rc;
}
