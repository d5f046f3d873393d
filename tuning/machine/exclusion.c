#include "tuning/machine/exclusion.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "tuning/machine/machine.h"

struct claim {
	const char *folder, *name, *path;
};

static const struct claim privileged = {"/run", "kbtune.owner", "/run/kbtune.owner"};
static const struct claim anybodys = {"/dev/shm", "kbtune", "/dev/shm/kbtune"};

static int open_folder(const struct machine *m, const struct claim *c)
{
	return machine_openat(m, c->folder, O_RDONLY | O_DIRECTORY);
}

/* 1: owned by this user. 0: there is none. -EBUSY: owned by `owner`. A symbolic link belongs to its
 * own owner, wherever it leads. */
static int claim_seen_in(int folder, const struct claim *c, uid_t *owner)
{
	struct stat st;

	if (fstatat(folder, c->name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	*owner = st.st_uid;
	return st.st_uid == geteuid() ? 1 : -EBUSY;
}

static int claim_refuse(const struct claim *c, int rc, uid_t owner, struct err *e)
{
	if (rc != -EBUSY)
		return err_sys(e, rc, c->path, "look at");
	return err_set(e, rc, STATUS_FAILED, c->path, "change this machine",
		       "user %u has changed it with kbtune; run 'kbtune restore' as that user first, or remove this "
		       "file if that user has nothing applied",
		       (unsigned)owner);
}

static int make_file(int folder, const struct claim *c)
{
	int fd = openat(folder, c->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

	if (fd < 0)
		return -errno;
	/* For people only; the owner of the file identifies the user. */
	dprintf(fd, "process %d of user %u\n", (int)getpid(), (unsigned)geteuid());
	close(fd);
	return 0;
}

/* 1: created. 0: already owned by this user. -EBUSY and `e`: owned by another user; or another
 * negative errno and `e`. */
static int claim_make(const struct machine *m, const struct claim *c, struct err *e)
{
	int folder = open_folder(m, c), rc;
	uid_t owner = 0;

	if (folder < 0)
		return err_sys(e, folder, c->folder, "open");
	rc = make_file(folder, c);
	if (rc == -EEXIST) {
		rc = claim_seen_in(folder, c, &owner);
		rc = rc < 0 ? claim_refuse(c, rc, owner, e) : 0;
	} else {
		rc = rc ? err_sys(e, rc, c->path, "make") : 1;
	}
	close(folder);
	return rc;
}

/* -EBUSY and `owner` if another user has it. */
static int claim_seen(const struct machine *m, const struct claim *c, uid_t *owner)
{
	int folder = open_folder(m, c), rc;

	if (folder < 0)
		return 0;
	rc = claim_seen_in(folder, c, owner);
	close(folder);
	return rc;
}

static void claim_release(const struct machine *m, const struct claim *c)
{
	int folder = open_folder(m, c);
	uid_t owner;

	if (folder < 0)
		return;
	if (claim_seen_in(folder, c, &owner) == 1)
		unlinkat(folder, c->name, 0);
	close(folder);
}

static void tell_of_other(const struct machine *m)
{
	uid_t owner;

	if (claim_seen(m, &anybodys, &owner) == -EBUSY)
		fprintf(stderr,
			"kbtune: user %u may have changed this machine, too (%s belongs to that user, but any user can "
			"create it)\n",
			(unsigned)owner, anybodys.path);
}

/* The other one is checked afterwards, so that of two processes at the same time, at least one sees
 * the other. */
static int claim_as_anybody(const struct machine *m, struct err *e)
{
	int rc = claim_make(m, &anybodys, e);
	uid_t owner;

	if (rc == -ENOENT && !m->root.live)
		return 0;
	if (rc < 0 || claim_seen(m, &privileged, &owner) != -EBUSY)
		return rc < 0 ? rc : 0;
	claim_release(m, &anybodys);
	return claim_refuse(&privileged, -EBUSY, owner, e);
}

static bool may_not(int rc)
{
	return rc == -EACCES || rc == -EPERM || rc == -EROFS;
}

int exclusion_take(struct machine *m, struct err *e)
{
	int rc = claim_make(m, &privileged, e);

	if (may_not(rc) || (rc == -ENOENT && !m->root.live)) {
		err_clear(e);
		return claim_as_anybody(m, e);
	}
	if (rc == 1)
		tell_of_other(m);
	return rc < 0 ? rc : 0;
}

void exclusion_release(struct machine *m)
{
	claim_release(m, &privileged);
	claim_release(m, &anybodys);
}
