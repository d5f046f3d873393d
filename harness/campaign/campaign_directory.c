#include "campaign/campaign_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/lock_holder.h"
#include "common/open_path.h"
#include "common/random.h"
#include "rundir/writer.h"

static int directory_open(const char *path, int *lock, struct err *e)
{
	*lock = fs_open(path, O_DIRECTORY);
	return *lock < 0 ? err_sys(e, *lock, path, "open") : 0;
}

static int directory_lock(int lock, const char *path, struct err *e)
{
	char holder[LOCK_HOLDER_MAX];

	if (flock(lock, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return err_set(e, -EBUSY, STATUS_FAILED, path, "continue it",
			       "another kblat%s is running this campaign", lock_holder(lock, holder, sizeof(holder)));
	return 0;
}

int directory_make(const char *parent, const char *name, char **path, int *lock, struct err *e)
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
	return rc ?: directory_open(*path, lock, e) ?: directory_lock(*lock, *path, e);
}

static int check_owner(int fd, const char *path, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st))
		return err_sys(e, -errno, path, "continue it");
	if (st.st_uid != geteuid())
		return err_set(e, -EPERM, STATUS_USAGE, path, "continue it",
			       "it belongs to user %u, not to you (user %u)", st.st_uid, geteuid());
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return err_set(e, -EPERM, STATUS_USAGE, path, "continue it", "other users may write to it");
	return 0;
}

static json_t *read_checked(int dir, const char *file, const char *path, struct err *e)
{
	int fd = open_path(dir, file, O_RDONLY | O_NONBLOCK | O_NOCTTY, LINKS_REFUSED);

	if (fd >= 0 && check_owner(fd, path, e)) {
		close(fd);
		return NULL;
	}
	return json_read_opened(fd, path, e);
}

int directory_resume(const char *path, const char *file, int *lock, json_t **content, struct err *e)
{
	char *file_path = fs_path("%s/%s", path, file);
	int rc = directory_open(path, lock, e) ?: check_owner(*lock, path, e) ?: directory_lock(*lock, path, e);

	*content = rc ? NULL : read_checked(*lock, file, file_path, e);
	free(file_path);
	return *content ? 0 : rc ?: -EINVAL;
}
