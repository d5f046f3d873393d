#include "campaign/campaign_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/random.h"
#include "rundir/writer.h"

int directory_make(const char *parent, const char *name, char **path, struct err *e)
{
	int rc = fs_mkdirs(parent, e);
	char *real = rc ? NULL : realpath(parent, NULL), utc[32], id[9];

	if (!rc && !real)
		rc = err_sys(e, -errno, parent, "resolve");
	if (!rc)
		rc = random_hex(id, sizeof(id) - 1) ? err_sys(e, -EIO, parent, "draw a name") : 0;
	if (!rc) {
		*path = fs_path("%s/%s-%s-%s", real, name, utc_now(utc, sizeof(utc), 1), id);
		rc = mkdir(*path, 0755) ? err_sys(e, -errno, *path, "create") : 0;
	}
	free(real);
	return rc;
}

int directory_lock(const char *path, int *fd, struct err *e)
{
	*fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*fd < 0)
		return err_sys(e, -errno, path, "open");
	if (flock(*fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return err_set(e, -EBUSY, STATUS_FAILED, path, "continue it",
			       "another kblat process is running this campaign");
	return 0;
}

int directory_check_owner(const char *path, const char *file, struct err *e)
{
	const char *const paths[] = {path, file};
	struct stat st;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (lstat(paths[i], &st))
			return err_sys(e, -errno, paths[i], "continue it");
		if (st.st_uid != geteuid())
			return err_set(e, -EPERM, STATUS_USAGE, paths[i], "continue it",
				       "it belongs to user %u, not to you (user %u)", st.st_uid, geteuid());
		if (st.st_mode & (S_IWGRP | S_IWOTH))
			return err_set(e, -EPERM, STATUS_USAGE, paths[i], "continue it", "other users may write to it");
	}
	return 0;
}
