#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file_users.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/sysroot.h"
#include "files/state/capture.h"
#include "files/state/readers.h"

void read_file(struct capture *c, const struct state_source *s, const char *path, const char *key)
{
	const char *text;
	size_t length;
	int rc = capture_file(c, path, &text, &length);

	if (rc)
		capture_errno(c, key, rc);
	else if (s->flatten)
		s->flatten(c, s, key, text, length);
}

void read_link(struct capture *c, const struct state_source *s, const char *path, const char *key)
{
	char target[4096];
	int rc = sysroot_readlink(capture_root(c), path, target, sizeof(target));
	const char *last;

	(void)s;
	if (rc) {
		capture_errno(c, key, rc);
		return;
	}
	last = strrchr(target, '/');
	last = last ? last + 1 : target;
	capture_text(c, key, NULL, last, strlen(last));
}

/* Permissions in octal: 444 for an interrupt whose CPUs cannot be changed. */
void read_mode(struct capture *c, const struct state_source *s, const char *path, const char *key)
{
	char text[16];
	int mode = sysroot_mode(capture_root(c), path);

	(void)s;
	if (mode < 0) {
		capture_errno(c, key, mode);
		return;
	}
	snprintf(text, sizeof(text), "%03o", (unsigned)mode & 0777);
	capture_text(c, key, NULL, text, strlen(text));
}

/* --- who has a file open --- */

#define NAMES_MAX 1024 /* bytes */

static bool append_name(void *list, int pid, const char *name)
{
	const size_t used = strlen(list);

	(void)pid;
	snprintf((char *)list + used, NAMES_MAX - used, "%s%s", used ? ", " : "", name);
	return true;
}

/*
 * A request lasts as long as the descriptor, so every process that has the device open may be
 * limiting the latency. Their names are captured, because process IDs differ every time; also the
 * number of processes that could not be examined.
 */
void read_holders(struct capture *c, const struct state_source *s, const char *path, const char *key)
{
	const char *const files[] = {path, NULL};
	char list[NAMES_MAX] = "";
	const int hidden = file_users(capture_root(c), files, append_name, list);

	(void)s;
	if (hidden < 0) {
		capture_errno(c, key, hidden);
		return;
	}
	if (list[0]) /* not everybody may examine the descriptors of other processes */
		capture_be_private(c);
	if (!list[0] && hidden)
		capture_errno(c, key, -EACCES);
	else
		capture_text(c, key, NULL, list[0] ? list : "none", strlen(list[0] ? list : "none"));
	capture_int(c, "pm_qos.cpu_dma_latency_holders_hidden", NULL, hidden);
}

/* --- folders of settings --- */

#define DEEPEST 8
#define LINE	128

/* Never read: secret keys of the host, files that change when read, and files that cause work when read. */
static const char *const left_out[] = {"/stable_secret", "/tcp_fastopen_key", "/random/uuid", "/vm/stat_refresh", NULL};

static bool is_left_out(const char *path)
{
	size_t n = strlen(path);

	for (const char *const *l = left_out; *l; l++)
		if (n >= strlen(*l) && !strcmp(path + n - strlen(*l), *l))
			return true;
	return false;
}

/* Sysctls with a row of their own are captured by that. */
static bool has_row(const char *path)
{
	for (const struct state_source *s = state_sources; s->group; s++)
		if (s->path && !strcmp(s->path, path))
			return true;
	return false;
}

/*
 * Every interface has some forty settings in four folders ("net/ipv4/conf/eth0/forwarding"), and
 * there may be hundreds of interfaces. So only the defaults of each folder and settings that differ
 * from them are captured. The defaults of a folder are read once.
 */
struct usual {
	char *folder; /* "/proc/sys/net/ipv4/conf/default"; NULL: none yet */
	char **names, **lines;
	int count;
};

struct walk {
	struct capture *c;
	struct usual usual;
};

static void usual_free(struct usual *u)
{
	for (int i = 0; i < u->count; i++)
		free(u->lines[i]);
	free(u->lines);
	sysroot_names_free(u->names);
	free(u->folder);
	*u = (struct usual){.folder = NULL};
}

static char *sysctl_line(const struct sysroot *root, const char *path)
{
	char line[LINE];

	return sysroot_line(root, path, line, sizeof(line)) ? NULL : or_abort(strdup(line));
}

/* Takes `folder`. */
static void usual_read(struct usual *u, const struct sysroot *root, char *folder)
{
	usual_free(u);
	u->folder = folder;
	u->count = sysroot_list(root, folder, NULL, &u->names);
	u->lines = u->count > 0 ? or_abort(calloc((size_t)u->count, sizeof(*u->lines))) : NULL;
	for (int i = 0; u->lines && i < u->count; i++) {
		char *path = fs_path("%s/%s", folder, u->names[i]);

		if (!is_left_out(path))
			u->lines[i] = sysctl_line(root, path);
		free(path);
	}
}

/* NULL: there is none. */
static const char *usual_line(const struct usual *u, const char *name)
{
	for (int i = 0; u->lines && i < u->count; i++)
		if (!strcmp(u->names[i], name))
			return u->lines[i];
	return NULL;
}

/* "eth0/forwarding" for a setting of an interface; NULL for all others, including the defaults. */
static const char *interface_in(const char *path)
{
	const char *interface = strstr(path, "/conf/")	  ? strstr(path, "/conf/") + 6
				: strstr(path, "/neigh/") ? strstr(path, "/neigh/") + 7
							  : NULL;

	if (!interface || strncmp(path, "/proc/sys/net/ipv", 17) || !strchr(interface, '/') ||
	    !strncmp(interface, "default/", 8) || !strncmp(interface, "all/", 4))
		return NULL;
	return interface;
}

static bool is_like_default(struct walk *w, const char *path)
{
	const struct sysroot *root = capture_root(w->c);
	const char *interface = interface_in(path), *usual;
	char *folder, *own;
	bool is_like;

	if (!interface)
		return false;
	folder = fs_path("%.*sdefault", (int)(interface - path), path);
	if (w->usual.folder && !strcmp(folder, w->usual.folder))
		free(folder);
	else
		usual_read(&w->usual, root, folder);
	usual = usual_line(&w->usual, strchr(interface, '/') + 1);
	own = usual ? sysctl_line(root, path) : NULL;
	is_like = own && !strcmp(own, usual);
	free(own);
	return is_like;
}

static void read_sysctls_below(struct walk *w, const char *path, const char *key, unsigned depth);

static void read_one(struct walk *w, const char *path, const char *key, unsigned depth)
{
	const char *text;
	size_t length;
	int rc;

	if (is_left_out(path) || has_row(path) || is_like_default(w, path))
		return;
	rc = capture_file(w->c, path, &text, &length);
	if (rc == -EISDIR)
		read_sysctls_below(w, path, key, depth + 1);
	else if (rc)
		capture_errno(w->c, key, rc);
	else
		flatten_words(w->c, NULL, key, text, length);
}

static void read_sysctls_below(struct walk *w, const char *path, const char *key, unsigned depth)
{
	char **names;
	int n = depth < DEEPEST ? sysroot_list(capture_root(w->c), path, NULL, &names) : -ELOOP;

	if (n < 0) {
		capture_errno(w->c, key, n);
		return;
	}
	for (int i = 0; i < n; i++) {
		char *file = fs_path("%s/%s", path, names[i]), *name = fs_path("%s.%s", key, names[i]);

		read_one(w, file, name, depth);
		free(file);
		free(name);
	}
	sysroot_names_free(names);
}

/* "sysctl.vm.*" for /proc/sys/vm: the path below it replaces the star. */
void read_sysctls(struct capture *c, const struct state_source *s, const char *path, const char *key)
{
	struct walk w = {.c = c};
	char *head = fs_path("%.*s", (int)(strlen(key) - 2), key);

	(void)s;
	read_sysctls_below(&w, path, head, 0);
	usual_free(&w.usual);
	free(head);
}
