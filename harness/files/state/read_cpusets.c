#include "files/state/readers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/mountinfo.h"
#include "common/or_abort.h"
#include "common/sysroot.h"
#include "common/text.h"
#include "files/state/capture.h"

enum {
	CPUSETS_MAX = 1024,
	CPUSETS_DEEP = 8,
};

/* Where the cpuset controller is. */
struct hierarchy {
	int version; /* 1, 2, 0: none */
	char mount[1024];
};

/* A unified hierarchy may be mounted in addition to one of version 1 that has the controller. */
static bool v2_has_cpuset(struct capture *c, const char *mount)
{
	char *path = fs_path("%s/cgroup.controllers", mount);
	const char *text;
	size_t length;
	bool found = !capture_file(c, path, &text, &length) && text_has_word(text, length, "cpuset", " \n");

	free(path);
	return found;
}

static void consider_mount(struct capture *c, char *line, struct hierarchy *h)
{
	struct mount_line m;
	int version;

	if (!mount_line_read(line, &m))
		return;
	if (!strcmp(m.kind, "cpuset") || (!strcmp(m.kind, "cgroup") && mount_has_option(m.super, "cpuset")))
		version = 1;
	else if (!strcmp(m.kind, "cgroup2") && v2_has_cpuset(c, m.where))
		version = 2;
	else
		return;
	if (h->version) /* the first of several mounts counts */
		return;
	h->version = version;
	snprintf(h->mount, sizeof(h->mount), "%s", m.where);
}

/* Uses a copy, because `each` may read another file. */
static void for_lines(const char *text, size_t length, void (*each)(void *arg, char *line), void *arg)
{
	char *copy = or_abort(strndup(text, length)), *rest = copy, *line;

	while ((line = strsep(&rest, "\n")))
		each(arg, line);
	free(copy);
}

struct search {
	struct capture *c;
	struct hierarchy *h;
	char own[1024];
};

static void each_mount(void *arg, char *line)
{
	struct search *f = arg;

	consider_mount(f->c, line, f->h);
}

/* "4:cpuset:/a/b" or, of version 2, "0::/a/b": man 7 cgroups. */
static void each_membership(void *arg, char *line)
{
	struct search *f = arg;
	char *rest = line, *controllers;

	strsep(&rest, ":");
	controllers = strsep(&rest, ":");
	if (rest &&
	    (f->h->version == 1 ? text_has_word(controllers, strlen(controllers), "cpuset", ",") : !*controllers))
		snprintf(f->own, sizeof(f->own), "%s", rest);
}

/* In a file system of type cpuset they have no prefix: man 7 cpuset. */
static const char *const bare_files[] = {"cpus",
					 "mems",
					 "cpu_exclusive",
					 "effective_cpus",
					 "effective_mems",
					 "mem_exclusive",
					 "mem_hardwall",
					 "memory_migrate",
					 "memory_pressure",
					 "memory_spread_page",
					 "memory_spread_slab",
					 "sched_load_balance",
					 "sched_relax_domain_level",
					 NULL};

/* The name without its prefix, or NULL for other files. */
static const char *cpuset_file(const char *name)
{
	if (!strncmp(name, "cpuset.", 7))
		return name + 7;
	for (const char *const *bare = bare_files; *bare; bare++)
		if (!strcmp(name, *bare))
			return name;
	return NULL;
}

static void read_cpuset_file(struct capture *c, const char *dir, const char *cgroup, const char *name, const char *bare)
{
	static const struct state_source list = {.flatten = flatten_line}, number = {.flatten = flatten_int};
	bool is_list = strstr(bare, "cpus") || strstr(bare, "mems"); /* "0" is a list, too */
	char *path = fs_path("%s/%s", dir, name);
	char *key = fs_path("cpuset.tree.%s.%s", *cgroup ? cgroup : "/", bare);

	read_file(c, is_list ? &list : &number, path, key);
	free(path);
	free(key);
}

struct walk {
	struct capture *c;
	const struct hierarchy *h;
	unsigned left; /* number of cgroups that may still be read */
	bool is_cut;
};

static void walk_cpusets(struct walk *w, const char *cgroup, unsigned depth);

static void walk_child(struct walk *w, const char *dir, const char *cgroup, const char *name, unsigned depth)
{
	char *probe = fs_path("%s/%s/.", dir, name), *child = fs_path("%s/%s", cgroup, name);

	if (sysroot_exists(capture_root(w->c), probe))
		walk_cpusets(w, child, depth + 1);
	free(probe);
	free(child);
}

/* `cgroup` is "" for the root. */
static void walk_cpusets(struct walk *w, const char *cgroup, unsigned depth)
{
	char *dir, **names;
	int n;

	if (depth > CPUSETS_DEEP || !w->left) {
		w->is_cut = true;
		return;
	}
	w->left--;
	dir = fs_path("%s%s", w->h->mount, cgroup);
	n = sysroot_list(capture_root(w->c), dir, NULL, &names);
	for (int i = 0; i < n; i++) {
		const char *bare = cpuset_file(names[i]);

		if (bare)
			read_cpuset_file(w->c, dir, cgroup, names[i], bare);
		else
			walk_child(w, dir, cgroup, names[i], depth);
	}
	if (n >= 0)
		sysroot_names_free(names);
	free(dir);
}

static void read_own(struct capture *c, struct search *f)
{
	const char *text;
	size_t length;
	int rc = capture_file(c, "/proc/self/cgroup", &text, &length);

	if (!rc)
		for_lines(text, length, each_membership, f);
	if (rc)
		capture_errno(c, "cpuset.own", rc);
	else if (f->h->version)
		capture_text(c, "cpuset.own", NULL, f->own, strlen(f->own));
}

/* Every cpuset.* of the hierarchy that has the controller: the unified one, or one of version 1, in
 * addition to which a unified one may be mounted. */
void read_cpusets(struct capture *c, const struct state_source *s, const char *path, const char *key)
{
	static const char *const names[] = {"none", "v1", "v2"};
	struct hierarchy h = {.version = 0};
	struct search f = {.c = c, .h = &h};
	struct walk w = {.c = c, .h = &h, .left = CPUSETS_MAX};
	const char *text;
	size_t length;
	int rc = capture_file(c, path, &text, &length);

	(void)s;
	if (rc) {
		capture_errno(c, key, rc);
		return;
	}
	for_lines(text, length, each_mount, &f);
	capture_text(c, key, NULL, names[h.version], strlen(names[h.version]));
	read_own(c, &f);
	if (!h.version)
		return;
	capture_text(c, "cpuset.mount", NULL, h.mount, strlen(h.mount));
	walk_cpusets(&w, "", 0);
	capture_text(c, "cpuset.tree_is_whole", NULL, w.is_cut ? "no" : "yes", w.is_cut ? 2 : 3);
}
