#include "measure/instrument/control_groups.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/mountinfo.h"
#include "common/sysroot.h"
#include "common/text.h"

#define FILE_MAX ((size_t)8 << 20)

/* The value of a line "NAME VALUE"; 0 if there is none. */
static int64_t value_in(const char *text, const char *name)
{
	const size_t n = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
		if (!strncmp(line, name, n) && line[n] == ' ')
			return strtoll(line + n, NULL, 10);
	return 0;
}

static char *read_in(const struct sysroot *root, const char *group, const char *name)
{
	char *path = fs_path("%s/%s", group, name), *text;
	int rc = sysroot_read(root, path, FILE_MAX, &text, NULL);

	free(path);
	return rc ? NULL : text;
}

static void add_cpu(const struct sysroot *root, const char *group, struct control_group_limits *l)
{
	char *text = read_in(root, group, "cpu.stat");

	if (!text)
		return;
	l->throttled += value_in(text, "nr_throttled");
	l->throttled_ns += value_in(text, "throttled_usec") * 1000 + value_in(text, "throttled_time");
	free(text);
}

/* A group's own limits: those of groups below it count there. Before Linux 5.2 only the sum of both is to be seen. */
static void add_memory(const struct sysroot *root, const char *group, bool own, struct control_group_limits *l)
{
	char *text = read_in(root, group, "memory.events.local");

	if (!text && own)
		text = read_in(root, group, "memory.events");
	if (text)
		l->memory_limited += value_in(text, "high") + value_in(text, "max");
	free(text);
	text = read_in(root, group, "memory.failcnt");
	if (text)
		l->memory_limited += strtoll(text, NULL, 10);
	free(text);
}

/* The group of this process in a hierarchy: that of version 2 (`controller` ""), or of a controller of version 1. False: there
 * is none. "N:LIST:PATH". */
static bool find_own_group(const char *groups, const char *controller, char *path, size_t size)
{
	for (const char *line = groups; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
		const char *list = strchr(line, ':'), *end = list ? strchr(list + 1, ':') : NULL;

		if (!end || (*controller ? !text_has_word(list + 1, (size_t)(end - list - 1), controller, ",")
					 : end != list + 1))
			continue;
		snprintf(path, size, "%.*s", (int)strcspn(end + 1, "\n"), end + 1);
		return true;
	}
	return false;
}

/* The group's folder below the mount, which may show a part of the hierarchy only; then up to the mount. */
static void add_up(const struct sysroot *root, const struct mount_line *m, const char *own, bool cpu, bool memory,
		   struct control_group_limits *l)
{
	const size_t above = strcmp(m->root, "/") ? strlen(m->root) : 0;
	const char *below = strncmp(own, m->root, above) ? "" : own + above;
	char *folder = fs_path("%s%s", m->where, strcmp(below, "/") && !strstr(below, "..") ? below : "");
	bool is_own = true;

	for (;;) {
		char *slash = strrchr(folder, '/');

		if (cpu)
			add_cpu(root, folder, l);
		if (memory)
			add_memory(root, folder, is_own, l);
		if (!slash || strlen(folder) <= strlen(m->where))
			break;
		*slash = '\0';
		is_own = false;
	}
	free(folder);
}

static void add_hierarchy(const struct sysroot *root, const struct mount_line *m, const char *groups,
			  struct control_group_limits *l)
{
	const bool is_new = !strcmp(m->kind, "cgroup2"), is_old = !strcmp(m->kind, "cgroup");
	const bool cpu = is_new || mount_has_option(m->super, "cpu");
	const bool memory = is_new || mount_has_option(m->super, "memory");
	char own[4096];

	if ((is_new || (is_old && (cpu || memory))) && find_own_group(groups,
								      is_new ? ""
								      : cpu  ? "cpu"
									     : "memory",
								      own, sizeof(own)))
		add_up(root, m, own, cpu, memory, l);
}

struct control_group_limits control_groups_now(const struct sysroot *root)
{
	struct control_group_limits l = {0};
	char *groups;
	struct mounts all;
	struct mount_line m;
	bool seen = false;

	if (sysroot_read(root, "/proc/self/cgroup", FILE_MAX, &groups, NULL))
		return l;
	all = mounts_read(root);
	while (mounts_next(&all, &m)) {
		const bool is_new = !strcmp(m.kind, "cgroup2");

		/* One that is mounted twice counts once. */
		if (!is_new || !seen)
			add_hierarchy(root, &m, groups, &l);
		seen |= is_new;
	}
	mounts_free(&all);
	free(groups);
	return l;
}
