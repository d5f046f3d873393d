/* Settings below /proc/sys: all of them, so that nobody has to have thought of each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/sysroot.h"
#include "state/capture.h"
#include "state/sources.h"

#define DEEPEST 8

/* Never read: keys of the host, what changes by being read, and what does work when it is read. */
static const char *const left_out[] = {"/stable_secret", "/tcp_fastopen_key", "/random/uuid", "/vm/stat_refresh", NULL};

static bool is_left_out(const char *path)
{
	size_t n = strlen(path);

	for (const char *const *l = left_out; *l; l++)
		if (n >= strlen(*l) && !strcmp(path + n - strlen(*l), *l))
			return true;
	return false;
}

/* Those that have a row of their own are told there. */
static bool has_row(const char *path)
{
	for (const struct state_source *s = state_sources; s->group; s++)
		if (s->path && !strcmp(s->path, path))
			return true;
	return false;
}

/*
 * Every interface has some forty settings in four folders ("net/ipv4/conf/eth0/forwarding"), and there may be hundreds of
 * interfaces: those are told that differ from their folder's default, which is told itself.
 */
static bool is_like_default(const struct sysroot *root, const char *path)
{
	const char *interface = strstr(path, "/conf/")	  ? strstr(path, "/conf/") + 6
				: strstr(path, "/neigh/") ? strstr(path, "/neigh/") + 7
							  : NULL;
	char own[128], usual[128], *twin;
	bool is_like;

	if (!interface || strncmp(path, "/proc/sys/net/ipv", 17) || !strchr(interface, '/') ||
	    !strncmp(interface, "default/", 8) || !strncmp(interface, "all/", 4))
		return false;
	twin = fs_path("%.*sdefault%s", (int)(interface - path), path, strchr(interface, '/'));
	is_like = !sysroot_line(root, path, own, sizeof(own)) && !sysroot_line(root, twin, usual, sizeof(usual)) &&
		  !strcmp(own, usual);
	free(twin);
	return is_like;
}

static void read_below(struct capture *c, const char *path, const char *key, unsigned depth);

static void read_one(struct capture *c, const char *path, const char *key, unsigned depth)
{
	const char *text;
	size_t length;
	int rc;

	if (is_left_out(path) || has_row(path) || is_like_default(capture_root(c), path))
		return;
	rc = capture_file(c, path, &text, &length);
	if (rc == -EISDIR)
		read_below(c, path, key, depth + 1);
	else if (rc)
		capture_errno(c, key, rc);
	else
		flatten_words(c, NULL, key, text, length);
}

static void read_below(struct capture *c, const char *path, const char *key, unsigned depth)
{
	char **names;
	int n = depth < DEEPEST ? sysroot_list(capture_root(c), path, NULL, &names) : -ELOOP;

	if (n < 0) {
		capture_errno(c, key, n);
		return;
	}
	for (int i = 0; i < n; i++) {
		char *file = fs_path("%s/%s", path, names[i]), *name = fs_path("%s.%s", key, names[i]);

		read_one(c, file, name, depth);
		free(file);
		free(name);
	}
	sysroot_names_free(names);
}

/* "sysctl.vm.*" of /proc/sys/vm: what is below goes where the star is. */
READER(sysctls)
{
	char *head = fs_path("%.*s", (int)(strlen(key) - 2), key);

	(void)s;
	read_below(c, path, head, 0);
	free(head);
}
