#include "tuning/machine/exclusion.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "tuning/machine/machine.h"

#define FOLDER "/dev/shm"
#define NAME   "kbtune"

static int open_folder(const struct machine *m)
{
	return machine_openat(m, FOLDER, O_RDONLY | O_DIRECTORY);
}

/* 0 where it is ours. A link of somebody else's is theirs, wherever it leads. */
static int check_owner(int folder, struct err *e)
{
	struct stat st;

	if (fstatat(folder, NAME, &st, AT_SYMLINK_NOFOLLOW))
		return err_sys(e, -errno, FOLDER "/" NAME, "look at");
	if (st.st_uid == geteuid())
		return 0;
	return err_set(
	    e, -EBUSY, STATUS_FAILED, FOLDER "/" NAME, "change this machine",
	    "user %u has changed it with kbtune; run 'kbtune restore' as that user first, or remove this file "
	    "if nothing of theirs is applied",
	    (unsigned)st.st_uid);
}

static int make_file(int folder, struct err *e)
{
	int fd = openat(folder, NAME, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

	if (fd < 0)
		return errno == EEXIST ? check_owner(folder, e) : err_sys(e, -errno, FOLDER "/" NAME, "make");
	/* For people: who it is says the file's owner. */
	dprintf(fd, "process %d of user %u\n", (int)getpid(), (unsigned)geteuid());
	close(fd);
	return 0;
}

int exclusion_take(struct machine *m, struct err *e)
{
	int folder = open_folder(m), rc;

	if (folder == -ENOENT && !m->root.live)
		return 0;
	if (folder < 0)
		return err_sys(e, folder, FOLDER, "open");
	rc = make_file(folder, e);
	close(folder);
	return rc;
}

void exclusion_release(struct machine *m)
{
	int folder = open_folder(m);

	if (folder < 0)
		return;
	if (!check_owner(folder, NULL))
		unlinkat(folder, NAME, 0);
	close(folder);
}
