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

/* Below the root of the machine. A user who is not root has no /run to write to. */
static char *path_below_root(const struct machine *m, char *buf, size_t size)
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

	snprintf(buf, size, "%s%s", m->root.live ? "" : m->root.path, path_below_root(m, below, sizeof(below)));
	return buf;
}

static int make_folder(const struct machine *m, const char *path)
{
	char *parent = fs_path("%s", path), *slash = strrchr(parent, '/');
	int fd, rc;

	*slash = '\0';
	fd = machine_openat(m, parent, O_PATH | O_DIRECTORY);
	/* A recorded machine may come without /run. */
	if (fd == -ENOENT && !m->root.live && strrchr(parent, '/') == parent && !mkdirat(m->root.fd, parent + 1, 0755))
		fd = machine_openat(m, parent, O_PATH | O_DIRECTORY);
	rc = fd < 0 ? fd : mkdirat(fd, slash + 1, 0700) && errno != EEXIST ? -errno : 0;
	if (fd >= 0)
		close(fd);
	free(parent);
	return rc;
}

int state_folder_check_ours(const struct stat *st, const char *path, struct err *e)
{
	if (st->st_uid != geteuid())
		return err_set(e, -EPERM, STATUS_USAGE, path, "trust", "it belongs to user %u, not to %u",
			       (unsigned)st->st_uid, (unsigned)geteuid());
	if (st->st_mode & 077)
		return err_set(e, -EPERM, STATUS_USAGE, path, "trust",
			       "others have access to it (mode %04o); kbtune makes its own with 0700 and 0600",
			       (unsigned)st->st_mode & 07777);
	return 0;
}

static int open_existing(struct machine *m, struct err *e)
{
	char below[1024], path[5200];
	int fd = machine_openat(m, path_below_root(m, below, sizeof(below)), O_RDONLY | O_DIRECTORY | O_NOFOLLOW), rc;
	struct stat st;

	state_folder_path(m, path, sizeof(path));
	if (fd == -ENOENT)
		return fd;
	if (fd < 0)
		return err_sys(e, fd, path, "open");
	rc = fstat(fd, &st) ? err_sys(e, -errno, path, "open") : state_folder_check_ours(&st, path, e);
	if (rc) {
		close(fd);
		return rc;
	}
	m->state_fd = fd;
	return 0;
}

int state_folder_open(struct machine *m, bool make, struct err *e)
{
	char below[1024], path[5200];
	int rc;

	if (m->state_fd >= 0)
		return 0;
	rc = make ? make_folder(m, path_below_root(m, below, sizeof(below))) : 0;
	if (rc) {
		err_sys(e, rc, state_folder_path(m, path, sizeof(path)), "make the journal's folder");
		if (e && (rc == -EACCES || rc == -EROFS || rc == -EPERM))
			e->status = STATUS_IMPOSSIBLE;
		return rc;
	}
	return open_existing(m, e);
}
