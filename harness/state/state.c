#include "state/state.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/sysroot.h"
#include "state/capture.h"
#include "state/sources.h"

/* Replaces each star of `key` by what a component with wildcards has matched: "idle.*.*.name"
 * becomes "idle.cpu0.state1.name" for .../cpu0/cpuidle/state1/name. */
static void key_for(const char *pattern, const char *path, const char *key, char *out, size_t size)
{
	char copy[PATH_MAX], next[CAPTURE_KEY_MAX];
	char *rest = copy;

	snprintf(out, size, "%s", key);
	snprintf(copy, sizeof(copy), "%s", path);
	for (const char *p = pattern; *p && rest;) {
		size_t n = strcspn(p, "/");
		char *component = strsep(&rest, "/");

		if (strcspn(p, "*?[") < n) {
			capture_key(out, component, next, sizeof(next));
			snprintf(out, size, "%s", next);
		}
		p += n + (p[n] == '/');
	}
}

static void read_source(struct capture *c, const struct state_source *s)
{
	char pattern[CAPTURE_KEY_MAX], key[CAPTURE_KEY_MAX];
	char **paths;
	int n;

	snprintf(pattern, sizeof(pattern), "%s.%s", s->group, s->key);
	if (!s->path)
		return;
	if (!strpbrk(s->path, "*?[")) {
		s->read(c, s, s->path, pattern);
		return;
	}
	n = sysroot_glob(capture_root(c), s->path, &paths);
	if (n <= 0) {
		capture_errno(c, pattern, n ? n : -ENOENT);
		if (n < 0)
			return;
	}
	for (int i = 0; i < n && !capture_has_failed(c); i++) {
		key_for(s->path, paths[i], pattern, key, sizeof(key));
		s->read(c, s, paths[i], key);
	}
	sysroot_names_free(paths);
}

int state_capture(const struct sysroot *root, const char *dir, const struct state_options *o, struct err *e)
{
	struct capture *c;
	int rc = capture_open(&c, root, dir, o && o->mask, e);

	if (rc)
		return rc;
	for (const struct state_source *s = state_sources; s->group && !capture_has_failed(c); s++)
		read_source(c, s);
	return capture_close(c, o && o->sync);
}
