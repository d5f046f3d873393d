#include "common/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/or_abort.h"

#define LINKS_MAX 40 /* as in the kernel */

/* How far a path has led. */
struct trusted {
	const char *asked, *operation, *advice;
	struct err *e;
	uid_t top;   /* the owner of "/", who could replace everything; in a user namespace without root, it is not 0 */
	int dir;     /* what was reached, with O_PATH */
	char *shown; /* its path */
	char *text, *rest; /* still to go */
	unsigned followed;
};

/* A component, which is not yet reached. */
struct component {
	int fd;
	char *shown;
	struct stat st;
};

static int distrust(const struct trusted *t, const struct component *c, const char *cause)
{
	const bool is_part = t->rest[strspn(t->rest, "/")];

	return err_set(t->e, -EPERM, STATUS_USAGE, t->asked, t->operation, "%s%s%s%s%s", is_part ? c->shown : "",
		       is_part ? ", on its way: " : "", cause, t->advice ? "; " : "", t->advice ? t->advice : "");
}

static int distrust_owner(const struct trusted *t, const struct component *c)
{
	char cause[128];

	snprintf(cause, sizeof(cause), "it belongs to user %u, not to you (user %u)%s", c->st.st_uid, geteuid(),
		 c->st.st_uid && geteuid() ? " or root" : "");
	return distrust(t, c, cause);
}

static bool is_trusted_user(const struct trusted *t, uid_t id)
{
	return !id || id == geteuid() || id == t->top;
}

/* With an access control list, the bits of the group are the most that anybody in the list has. */
static bool has_list(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return getxattr(path, "system.posix_acl_access", NULL, 0) >= 0 || (errno != ENODATA && errno != ENOTSUP);
}

/* Where each user has a group of his own, folders are often writable by it. */
static bool is_own_group(gid_t id)
{
	const struct passwd *user = getpwuid(geteuid());
	const struct group *group = getgrgid(id);
	bool is_own = user && group && user->pw_gid == id && !strcmp(user->pw_name, group->gr_name);

	for (size_t i = 0; is_own && group->gr_mem[i]; i++)
		is_own = !strcmp(group->gr_mem[i], user->pw_name);
	return is_own;
}

static bool others_may_write(const struct component *c)
{
	if (c->st.st_mode & S_IWOTH)
		return true;
	return c->st.st_mode & S_IWGRP && (has_list(c->fd) || !is_own_group(c->st.st_gid));
}

/* In a sticky folder, only the owner of an entry may move it. */
static int check_component(const struct trusted *t, const struct component *c)
{
	const mode_t mode = c->st.st_mode;

	if (!is_trusted_user(t, c->st.st_uid))
		return distrust_owner(t, c);
	if (S_ISLNK(mode) || (S_ISDIR(mode) && mode & S_ISVTX) || !others_may_write(c))
		return 0;
	return distrust(t, c, "other users may write to it");
}

/* Takes what `c` has. */
static void trust_reach(struct trusted *t, const struct component *c)
{
	if (t->dir >= 0)
		close(t->dir);
	free(t->shown);
	t->dir = c->fd;
	t->shown = c->shown;
}

static void component_free(const struct component *c)
{
	if (c->fd >= 0)
		close(c->fd);
	free(c->shown);
}

static int begin_at_root(struct trusted *t)
{
	struct component root = {.fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), .shown = fs_path("/")};
	int rc = root.fd < 0 || fstat(root.fd, &root.st) ? err_sys(t->e, -errno, "/", t->operation) : 0;

	if (!rc) {
		t->top = root.st.st_uid;
		rc = check_component(t, &root);
	}
	if (rc)
		component_free(&root);
	else
		trust_reach(t, &root);
	return rc;
}

/* What the link says goes in front of the rest of the path. */
static int follow_trusted(struct trusted *t, const struct component *link)
{
	char *text = or_abort(malloc(PATH_MAX + strlen(t->rest) + 1));
	const ssize_t n = readlinkat(link->fd, "", text, PATH_MAX);
	const int rc = n < 0 ? -errno : n == PATH_MAX || ++t->followed > LINKS_MAX ? -ELOOP : 0;

	if (rc) {
		free(text);
		return err_sys(t->e, rc, t->asked, t->operation);
	}
	strcpy(text + n, t->rest);
	free(t->text);
	t->text = t->rest = text;
	return *text == '/' ? begin_at_root(t) : 0;
}

/* The next component. 1: there is none, or nothing of this name. */
static int trust_open_next(struct trusted *t, struct component *c)
{
	size_t n;

	t->rest += strspn(t->rest, "/");
	n = strcspn(t->rest, "/");
	if (!n)
		return 1;
	char *name = or_abort(strndup(t->rest, n));

	t->rest += n;
	c->shown = fs_path("%s%s%s", t->shown, t->shown[1] ? "/" : "", name);
	c->fd = openat(t->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	free(name);
	if (c->fd >= 0 && !fstat(c->fd, &c->st))
		return 0;
	return errno == ENOENT && !strstr(t->rest, "..") ? 1 : err_sys(t->e, -errno, t->asked, t->operation);
}

static int trust_step(struct trusted *t)
{
	struct component c = {.fd = -1};
	int rc = trust_open_next(t, &c) ?: check_component(t, &c);

	if (!rc && !S_ISLNK(c.st.st_mode)) {
		trust_reach(t, &c);
		return 0;
	}
	rc = rc ?: follow_trusted(t, &c);
	component_free(&c);
	return rc;
}

static char *absolute_path(const char *path)
{
	char *here = *path == '/' ? NULL : getcwd(NULL, 0), *whole;

	whole = *path == '/' ? fs_path("%s", path) : here ? fs_path("%s/%s", here, path) : NULL;
	free(here);
	return whole;
}

/* Sets `*fd` to what was reached, with O_PATH. */
static int trust_walk(const char *path, const char *operation, const char *advice, int *fd, struct err *e)
{
	struct trusted t = {.asked = path, .operation = operation, .advice = advice, .e = e, .dir = -1};
	int rc;

	t.text = t.rest = absolute_path(path);
	rc = !t.text ? err_sys(e, -errno, path, operation) : begin_at_root(&t);
	while (!rc)
		rc = trust_step(&t);
	*fd = t.dir;
	free(t.text);
	free(t.shown);
	return rc < 0 ? rc : 0;
}

int trust_path(const char *path, const char *operation, const char *advice, struct err *e)
{
	int fd;
	const int rc = trust_walk(path, operation, advice, &fd, e);

	if (fd >= 0)
		close(fd);
	return rc;
}

int trust_own_file(int fd, const char *path, const char *operation, const char *advice, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st))
		return err_sys(e, -errno, path, operation);
	if (st.st_uid != geteuid())
		return err_set(e, -EPERM, STATUS_USAGE, path, operation,
			       "it belongs to user %u, not to you (user %u)%s%s", st.st_uid, geteuid(),
			       advice ? "; " : "", advice ? advice : "");
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return err_set(e, -EPERM, STATUS_USAGE, path, operation, "other users may write to it%s%s",
			       advice ? "; " : "", advice ? advice : "");
	return 0;
}

/* The end of the path exists: what was reached is it, or a folder above, which has nothing of this name. */
static int open_reached(int reached, const char *path, const char *operation, struct err *e)
{
	struct stat a, b;
	const int fd = openat(reached, ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int rc = fd < 0 || stat(path, &a) || fstat(fd, &b) ? -errno : 0;

	if (!rc && (a.st_dev != b.st_dev || a.st_ino != b.st_ino))
		rc = -ENOTDIR;
	if (!rc)
		return fd;
	if (fd >= 0)
		close(fd);
	return err_sys(e, rc, path, operation);
}

int trust_own_folder(const char *path, const char *operation, const char *advice, struct err *e)
{
	int reached, fd, rc = trust_walk(path, operation, advice, &reached, e);

	fd = rc ? rc : open_reached(reached, path, operation, e);
	if (reached >= 0)
		close(reached);
	rc = fd < 0 ? fd : trust_own_file(fd, path, operation, advice, e);
	if (fd >= 0 && rc) {
		close(fd);
		fd = rc;
	}
	return fd;
}

int trust_addition(const char *folder, const char *operation, struct err *e)
{
	struct stat st;

	if (stat(folder, &st))
		return err_sys(e, -errno, folder, operation);
	if (geteuid() || !st.st_uid)
		return 0;
	return err_set(
	    e, -EPERM, STATUS_USAGE, folder, operation,
	    "it belongs to user %u, and as root nothing is written into what belongs to others; do it as that user, or "
	    "with a copy of your own",
	    st.st_uid);
}

int trust_no_link(const char *folder, const char *operation, struct err *e)
{
	struct stat st;

	return lstat(folder, &st) || !S_ISLNK(st.st_mode)
		   ? 0
		   : err_set(e, -ELOOP, STATUS_USAGE, folder, operation,
			     "it is a symbolic link; name the folder that you mean with --out");
}
