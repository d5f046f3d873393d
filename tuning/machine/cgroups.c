#include "tuning/machine/cgroups.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/mountinfo.h"
#include "common/or_abort.h"
#include "tuning/machine/cpuset_library.h"
#include "tuning/machine/machine.h"

#define GROUP_MAX ((size_t)8 << 20)
#define DEPTH_MAX 32
#define ALL_MAX	  200000

static bool offers_cpuset(const struct machine *m, const char *where)
{
	char line[512], *path = fs_path("%s/cgroup.controllers", where);
	int rc = sysroot_line(&m->root, path, line, sizeof(line));
	char *rest = line, *word;
	bool found = false;

	free(path);
	while (!rc && !found && (word = strsep(&rest, " ")))
		found = !strcmp(word, "cpuset");
	return found;
}

/* If version 1 has the controller, version 2 does not, so version 1 takes precedence. */
static void take_mount(const struct machine *m, const struct mount_line *mount, struct cgroups *cg)
{
	bool old = !strcmp(mount->kind, "cpuset") ||
		   (!strcmp(mount->kind, "cgroup") && mount_has_option(mount->super, "cpuset"));
	bool bare = !strcmp(mount->kind, "cpuset") || mount_has_option(mount->super, "noprefix");
	bool is_new = !strcmp(mount->kind, "cgroup2") && offers_cpuset(m, mount->where);

	if (!old && (!is_new || cg->version == 1))
		return;
	/* If a hierarchy is mounted twice, use the mount that libcpuset knows. */
	if (cg->lib)
		return;
	cg->version = old ? 1 : 2;
	snprintf(cg->root, sizeof(cg->root), "%s", mount->where);
	snprintf(cg->prefix, sizeof(cg->prefix), "%s", old && bare ? "" : "cpuset.");
	cg->read_only = mount_has_option(mount->options, "ro");
	cg->lib = old && bare && m->root.live && cpuset_library_knows(mount->where);
}

void cgroups_find(const struct machine *m, struct cgroups *cg)
{
	struct mounts all = mounts_read(&m->root);
	struct mount_line mount;

	*cg = (struct cgroups){0};
	while (mounts_next(&all, &mount))
		take_mount(m, &mount, cg);
	mounts_free(&all);
}

static void leave(const struct machine *m, const struct mount_line *mount, void *context)
{
	(void)context;
	char *path = fs_path("%s/cgroup.procs", mount->where);

	/* 0: the writing process. It stays where it is if the root of a container does not accept processes. */
	sysroot_write(&m->root, path, "0", 1);
	free(path);
}

/* Calls `visit` for each hierarchy through which services and sessions are killed. */
static void each_hierarchy(const struct machine *m,
			   void (*visit)(const struct machine *m, const struct mount_line *mount, void *context),
			   void *context)
{
	struct mounts all = m->root.live ? mounts_read(&m->root) : (struct mounts){0};
	struct mount_line mount;

	while (mounts_next(&all, &mount))
		if (!strcmp(mount.kind, "cgroup2") ||
		    (!strcmp(mount.kind, "cgroup") && mount_has_option(mount.super, "name=systemd")))
			visit(m, &mount, context);
	mounts_free(&all);
}

void cgroups_leave(const struct machine *m)
{
	each_hierarchy(m, leave, NULL);
}

static void look_if_read_only(const struct machine *m, const struct mount_line *mount, void *context)
{
	char *path = fs_path("%s/cgroup.procs", mount->where);
	bool *is = context;

	*is |= machine_may_write(m, path) == -EROFS;
	free(path);
}

bool cgroups_are_read_only(const struct machine *m)
{
	bool are = false;

	each_hierarchy(m, look_if_read_only, &are);
	return are;
}

/* "0::/user.slice/session-1.scope" (version 2), or "1:name=systemd:/user.slice". */
char *cgroups_own(const struct machine *m)
{
	static const char *const starts[] = {"0::", "1:name=systemd:"};
	char *text, *own = NULL;

	if (machine_read(m, "/proc/self/cgroup", &text))
		return NULL;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]) && !own; i++) {
		const char *line = strstr(text, starts[i]);

		if (line && (line == text || line[-1] == '\n')) {
			line += strlen(starts[i]);
			own = or_abort(strndup(line, strcspn(line, "\n")));
		}
	}
	free(text);
	return own;
}

bool cgroups_is_name(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

	return n && !name[n] && n < CGROUPS_NAME_MAX && name[0] != '-';
}

char *cgroups_file(const struct cgroups *cg, const char *name, const char *file)
{
	bool plain = !strcmp(file, "tasks") || !strncmp(file, "cgroup.", 7);

	return fs_path("%s%s%s/%s%s", cg->root, *name ? "/" : "", name, plain ? "" : cg->prefix, file);
}

int cgroups_cpus(const struct machine *m, const struct cgroups *cg, const char *name, struct cpulist *cpus)
{
	char *path = cgroups_file(cg, name, "cpus");
	int rc = machine_read_cpus(m, path, cpus);

	free(path);
	return rc;
}

bool cgroups_exclusive(const struct machine *m, const struct cgroups *cg, const char *name)
{
	char line[128], *path = cgroups_file(cg, name, cg->version == 1 ? "cpu_exclusive" : "cpus.partition");
	int rc = sysroot_line(&m->root, path, line, sizeof(line));

	free(path);
	return !rc && strcmp(line, "0") && strcmp(line, "member");
}

void cgroups_claimed(const struct machine *m, const struct cgroups *cg, const char *name, struct cpulist *cpus)
{
	static const char *const files[] = {"cpus", "cpus.exclusive", "cpus.exclusive.effective"};

	cpulist_clear(cpus);
	for (size_t i = 0; i < (cg->version == 1 ? 1 : sizeof(files) / sizeof(files[0])); i++) {
		char *path = cgroups_file(cg, name, files[i]);
		struct cpulist some;

		if (!machine_read_cpus(m, path, &some))
			cpulist_unite(cpus, &some);
		free(path);
	}
}

int cgroups_tasks(const struct machine *m, const struct cgroups *cg, const char *name)
{
	char *path = cgroups_file(cg, name, cg->version == 1 ? "tasks" : "cgroup.procs"), *text;
	int rc = sysroot_read(&m->root, path, GROUP_MAX, &text, NULL), count = 0;

	free(path);
	if (rc)
		return rc;
	for (const char *p = text; *p; p++)
		count += *p == '\n';
	free(text);
	return count;
}

struct list {
	char **items;
	size_t count;
};

static void add_item(struct list *l, char *item)
{
	l->items = or_abort(reallocarray(l->items, l->count + 2, sizeof(*l->items)));
	l->items[l->count++] = item;
	l->items[l->count] = NULL;
}

/* Only a folder with the controller's files is a cpuset, and only cpusets can contain further ones. */
static void walk(const struct machine *m, const struct cgroups *cg, const char *name, int depth, struct list *l)
{
	char *folder = fs_path("%s%s%s", cg->root, *name ? "/" : "", name), **found;
	int n = sysroot_list(&m->root, folder, NULL, &found);

	for (int i = 0; i < n && l->count < ALL_MAX; i++) {
		char *child = fs_path("%s%s%s", name, *name ? "/" : "", found[i]);
		char *file = cgroups_file(cg, child, "cpus");

		if (sysroot_exists(&m->root, file)) {
			add_item(l, fs_path("%s", child));
			if (depth < DEPTH_MAX)
				walk(m, cg, child, depth + 1, l);
		}
		free(file);
		free(child);
	}
	if (n >= 0)
		sysroot_names_free(found);
	free(folder);
}

int cgroups_all(const struct machine *m, const struct cgroups *cg, char ***names)
{
	struct list l = {NULL, 0};

	if (!cg->version)
		return -ENODEV;
	add_item(&l, NULL);
	l.count = 0;
	walk(m, cg, "", 0, &l);
	*names = l.items;
	if (l.count < ALL_MAX)
		return (int)l.count;
	sysroot_names_free(l.items);
	return -E2BIG;
}

static int join_by_file(struct machine *m, const struct cgroups *cg, const char *name)
{
	char *path = cgroups_file(cg, name, cg->version == 1 ? "tasks" : "cgroup.procs"), text[32];
	int rc = machine_write(m, path, text, (size_t)snprintf(text, sizeof(text), "%d", (int)getpid()));

	free(path);
	return rc;
}

static int join_by_lib(const char *name)
{
	char *path = fs_path("/%s", name);
	int rc = cpuset_library_move(0, path);

	free(path);
	return rc;
}

bool cgroups_has(const struct machine *m, const char *name)
{
	struct cgroups cg;
	char *folder;
	bool has;

	cgroups_find(m, &cg);
	folder = fs_path("%s/%s", cg.root, name);
	has = cg.version && *name && !strstr(name, "..") && sysroot_exists(&m->root, folder);
	free(folder);
	return has;
}

int cgroups_join(struct machine *m, const char *name, struct err *e)
{
	struct cgroups cg;
	char *folder;
	int rc;

	cgroups_find(m, &cg);
	if (!cg.version)
		return err_set(e, -ENODEV, STATUS_IMPOSSIBLE, name, "enter the cpuset",
			       "no mounted control groups have the cpuset controller");
	if (!cgroups_has(m, name))
		return err_set(e, -ENOENT, STATUS_USAGE, name, "enter the cpuset",
			       "there is no such cpuset; see 'kbtune cpuset list'");
	rc = cg.lib ? join_by_lib(name) : join_by_file(m, &cg, name);
	if (rc) {
		folder = fs_path("%s/%s", cg.root, name);
		err_sys(e, rc, folder, "enter the cpuset");
		free(folder);
		if (rc == -EACCES || rc == -EPERM)
			e->status = STATUS_IMPOSSIBLE;
	}
	return rc;
}
