#include "common/open_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/or_abort.h"

#define RETRIES	  100 /* openat2 gives up with EAGAIN when something is renamed at the same time */
#define LINKS_MAX 40  /* as in the kernel */
#define DEPTH_MAX 100

/* How far a path has led. A folder stays open while we are below it, so that ".." leads back to where we came from,
 * even if it has been moved meanwhile. */
struct steps {
	enum path_links links;
	int top;	     /* the caller's */
	int dirs[DEPTH_MAX]; /* below it */
	unsigned depth;
	unsigned followed;
	char *text;
	char *rest; /* of `text`: still to go */
};

static int current_dir(const struct steps *s)
{
	return s->depth ? s->dirs[s->depth - 1] : s->top;
}

static void leave_dir(struct steps *s)
{
	if (s->depth)
		close(s->dirs[--s->depth]);
}

static void leave_dirs(struct steps *s)
{
	while (s->depth)
		leave_dir(s);
}

/* Takes `dir` over. */
static int enter_dir(struct steps *s, int dir)
{
	if (s->links == LINKS_REFUSED)
		leave_dir(s); /* nothing leads back */
	if (s->depth == DEPTH_MAX) {
		close(dir);
		return -ENAMETOOLONG;
	}
	s->dirs[s->depth++] = dir;
	return 0;
}

/* With O_PATH a link itself is opened, without it is refused. */
static int open_one(int at, const char *name, int flags)
{
	int fd;

	do
		fd = openat(at, name, flags | O_NOFOLLOW | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : fd;
}

static bool opened_link(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISLNK(st.st_mode);
}

/* -ELOOP if it is a link, unless the caller asked for the link. */
static int open_last(int at, const char *name, int flags)
{
	int fd = open_one(at, name, flags);

	if (fd < 0 || !(flags & O_PATH) || flags & O_NOFOLLOW || !opened_link(fd))
		return fd;
	close(fd);
	return -ELOOP;
}

/* What the link says goes in front of the rest of the path, which is empty or begins with a slash. */
static int follow_link(struct steps *s, int link)
{
	char *text = or_abort(malloc(PATH_MAX + strlen(s->rest) + 1));
	ssize_t n;

	n = readlinkat(link, "", text, PATH_MAX);
	if (n <= 0 || n == PATH_MAX) {
		free(text);
		return n < 0 ? -errno : n ? -ENAMETOOLONG : -ENOENT;
	}
	strcpy(text + n, s->rest);
	free(s->text);
	s->text = s->rest = text;
	if (*text == '/')
		leave_dirs(s);
	return 0;
}

/* `name` cannot be opened as what it should be, for which `rc` is the reason, unless it is a link that can be followed. */
static int try_link(struct steps *s, const char *name, int rc)
{
	int link = open_one(current_dir(s), name, O_PATH);

	if (link < 0)
		return link;
	if (opened_link(link))
		rc = s->links == LINKS_REFUSED || ++s->followed > LINKS_MAX ? -ELOOP : follow_link(s, link);
	close(link);
	return rc;
}

static int take_component(struct steps *s, char name[NAME_MAX + 1])
{
	size_t n;

	s->rest += strspn(s->rest, "/");
	n = strcspn(s->rest, "/");
	if (n > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, s->rest, n);
	name[n] = '\0';
	s->rest += n;
	return 0;
}

static int enter_or_follow(struct steps *s, const char *name)
{
	int dir;

	if (!strcmp(name, "."))
		return 0;
	if (!strcmp(name, "..")) {
		leave_dir(s);
		return 0;
	}
	dir = open_one(current_dir(s), name, O_PATH | O_DIRECTORY);
	return dir == -ENOTDIR ? try_link(s, name, dir) : dir < 0 ? dir : enter_dir(s, dir);
}

static int take_steps(struct steps *s, int flags)
{
	char name[NAME_MAX + 1];
	int rc, fd;

	while (!(rc = take_component(s, name))) {
		bool is_last = !*s->rest && strcmp(name, "..");

		if (is_last) {
			fd = open_last(current_dir(s), *name ? name : ".", flags);
			if ((fd != -ELOOP && fd != -ENOTDIR) || flags & O_NOFOLLOW)
				return fd;
			rc = try_link(s, name, fd);
		} else {
			rc = enter_or_follow(s, name);
		}
		if (rc)
			break;
	}
	return rc;
}

static bool leads_up(const char *path)
{
	for (const char *p = strstr(path, ".."); p; p = strstr(p + 1, ".."))
		if ((p == path || p[-1] == '/') && (!p[2] || p[2] == '/'))
			return true;
	return false;
}

static int check_path(const char *path, enum path_links links)
{
	if (!*path)
		return -ENOENT;
	if (links == LINKS_REFUSED && leads_up(path))
		return -EXDEV;
	return strlen(path) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* An absolute path begins at "/" if it is not the caller's folder that is "/". */
static int begin_steps(struct steps *s, const char *path)
{
	int dir;

	s->text = s->rest = or_abort(strdup(path));
	if (*path != '/' || s->links == LINKS_INSIDE)
		return 0;
	dir = open_one(AT_FDCWD, "/", O_PATH | O_DIRECTORY);
	return dir < 0 ? dir : enter_dir(s, dir);
}

int open_path_by_steps(int at, const char *path, int flags, enum path_links links)
{
	struct steps s = {.links = links, .top = at};
	int fd = check_path(path, links);

	if (!fd)
		fd = begin_steps(&s, path);
	if (!fd)
		fd = take_steps(&s, flags);
	leave_dirs(&s);
	free(s.text);
	return fd;
}

static int open_at_once(int at, const char *path, int flags, enum path_links links)
{
	struct open_how how = {
	    .flags = (unsigned)flags | O_CLOEXEC,
	    .resolve = links == LINKS_REFUSED ? RESOLVE_NO_SYMLINKS : RESOLVE_IN_ROOT,
	};
	long fd = -1;

	for (int i = 0; i < RETRIES; i++) {
		fd = syscall(SYS_openat2, at, path, &how, sizeof(how));
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	return fd < 0 ? -errno : (int)fd;
}

int open_path(int at, const char *path, int flags, enum path_links links)
{
	int fd = check_path(path, links);

	if (fd)
		return fd;
	fd = open_at_once(at, path, flags, links);
	/* Some sandboxes say EPERM of a system call that they do not know. */
	return fd == -ENOSYS || fd == -EPERM ? open_path_by_steps(at, path, flags, links) : fd;
}
