#include "tuning/machine/tuned.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/spawn.h"
#include "tuning/machine/form.h"
#include "tuning/machine/holder.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/tasks.h"

#define INCLUDES_MAX 8
#define CONF_MAX     (1 << 20)

/* The first match counts. tuned 2.23 and later store profiles one folder deeper. */
static const char *const folders[] = {"/etc/tuned/profiles", "/etc/tuned", "/usr/lib/tuned/profiles", "/usr/lib/tuned"};

#define FOLDERS (sizeof(folders) / sizeof(folders[0]))

char *tuned_find(const struct machine *m, const char *profile)
{
	if (!*profile || strchr(profile, '/') || profile[0] == '.')
		return NULL;
	for (size_t i = 0; i < FOLDERS; i++) {
		char *path = fs_path("%s/%s/tuned.conf", folders[i], profile);

		if (sysroot_exists(&m->root, path))
			return path;
		free(path);
	}
	return NULL;
}

static bool has_name(char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

char **tuned_names(const struct machine *m)
{
	char **all = or_abort(calloc(1, sizeof(*all))), **found;
	size_t count = 0;

	for (size_t i = 0; i < FOLDERS; i++) {
		int n = sysroot_list(&m->root, folders[i], NULL, &found);

		for (int k = 0; k < n; k++) {
			char *path = fs_path("%s/%s/tuned.conf", folders[i], found[k]);

			if (sysroot_exists(&m->root, path) && !has_name(all, count, found[k])) {
				all = or_abort(reallocarray(all, count + 2, sizeof(*all)));
				all[count++] = fs_path("%s", found[k]);
				all[count] = NULL;
			}
			free(path);
		}
		if (n >= 0)
			sysroot_names_free(found);
	}
	return all;
}

/* One "key = value" of a tuned.conf. */
struct line {
	const char *section, *key;
	char *value;
};

static char *trim(char *s)
{
	char *end;

	s += strspn(s, " \t");
	end = s + strlen(s);
	while (end > s && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return s;
}

/* Call `visit` for each line of a text, which is modified. */
static void each_line(char *text, void (*visit)(const struct line *l, void *context), void *context)
{
	char *line, section[64] = "";

	while ((line = strsep(&text, "\n"))) {
		char *equals;

		line = trim(line);
		if (*line == '[' && strchr(line, ']')) {
			snprintf(section, sizeof(section), "%.*s", (int)strcspn(line + 1, "]."), line + 1);
			continue;
		}
		equals = strchr(line, '=');
		if (!equals || *line == '#' || *line == ';')
			continue;
		*equals = '\0';
		visit(&(struct line){section, trim(line), trim(equals + 1)}, context);
	}
}

struct summary {
	char *buf;
	size_t size;
};

static void take_summary(const struct line *l, void *context)
{
	struct summary *s = context;

	if (!strcmp(l->section, "main") && !strcmp(l->key, "summary"))
		snprintf(s->buf, s->size, "%s", l->value);
}

static char *read_conf(const struct machine *m, const char *profile)
{
	char *path = tuned_find(m, profile), *text = NULL;

	if (path && sysroot_read(&m->root, path, CONF_MAX, &text, NULL))
		text = NULL;
	free(path);
	return text;
}

char *tuned_summary(const struct machine *m, const char *profile, char *buf, size_t size)
{
	char *text = read_conf(m, profile);

	buf[0] = '\0';
	if (text)
		each_line(text, take_summary, &(struct summary){buf, size});
	free(text);
	return buf;
}

/* Settings of plugins that are files; "*": in the sections sysctl and sysfs, each key is a file. */
static const struct {
	const char *section, *key, *path;
} known[] = {
    {"vm", "transparent_hugepages", "/sys/kernel/mm/transparent_hugepage/enabled"},
    {"vm", "transparent_hugepage", "/sys/kernel/mm/transparent_hugepage/enabled"},
    {"vm", "transparent_hugepage.defrag", "/sys/kernel/mm/transparent_hugepage/defrag"},
    {"cpu", "governor", "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"},
    {"cpu", "energy_perf_bias", "/sys/devices/system/cpu/cpu[0-9]*/power/energy_perf_bias"},
    {"cpu", "energy_performance_preference", "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/energy_performance_preference"},
    {"cpu", "min_perf_pct", "/sys/devices/system/cpu/intel_pstate/min_perf_pct"},
    {"cpu", "max_perf_pct", "/sys/devices/system/cpu/intel_pstate/max_perf_pct"},
    {"cpu", "no_turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo"},
    {"cpu", "boost", "/sys/devices/system/cpu/cpufreq/boost"},
    {"scheduler", "sched_rt_runtime_us", "/proc/sys/kernel/sched_rt_runtime_us"},
};

struct gathering {
	const struct machine *m;
	json_t *guards;
	char include[256];
};

static bool is_guarded(const json_t *guards, const char *path)
{
	const json_t *one;
	size_t i;

	json_array_foreach (guards, i, one)
		if (!strcmp(json_string_value(json_object_get(one, "path")), path))
			return true;
	return false;
}

static void guard_file(struct gathering *g, const char *path, const char *want)
{
	char *text;
	enum form form;
	json_t *raw;

	if (is_guarded(g->guards, path) || machine_read(g->m, path, &text))
		return;
	form = strchr(text, '[') && strchr(text, ']') ? FORM_CHOICE : FORM_TEXT;
	raw = json_string(text);
	if (raw)
		json_array_append_new(g->guards, json_pack("{s:s, s:s, s:o, s:s}", "path", path, "form",
							   form_name(form), "raw", raw, "want", want));
	free(text);
}

static void guard_glob(struct gathering *g, const char *pattern, const char *want)
{
	char **paths;
	int n = sysroot_glob(&g->m->root, pattern, &paths);

	for (int i = 0; i < n; i++)
		guard_file(g, paths[i], want);
	if (n >= 0)
		sysroot_names_free(paths);
}

static void guard_sysctl(struct gathering *g, const char *name, const char *want)
{
	char *path = fs_path("/proc/sys/%s", name);

	for (char *c = path; !strchr(name, '/') && *c; c++)
		if (*c == '.')
			*c = '/';
	if (!strstr(path, ".."))
		guard_file(g, path, want);
	free(path);
}

static void gather_guards(const struct line *l, void *context)
{
	struct gathering *g = context;

	if (!strcmp(l->section, "main") && !strcmp(l->key, "include"))
		snprintf(g->include, sizeof(g->include), "%s", l->value);
	else if (!strcmp(l->section, "sysctl") && strcmp(l->key, "type"))
		guard_sysctl(g, l->key, l->value);
	else if (!strcmp(l->section, "sysfs") && !strncmp(l->key, "/sys/", 5))
		guard_glob(g, l->key, l->value);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(l->section, known[i].section) && !strcmp(l->key, known[i].key))
			guard_glob(g, known[i].path, l->value);
}

json_t *tuned_guards(const struct machine *m, const char *profile, const char *text)
{
	struct gathering g = {.m = m, .guards = json_array()};
	char *copy = text ? fs_path("%s", text) : read_conf(m, profile);

	for (int i = 0; copy && i < INCLUDES_MAX; i++) {
		char next[256];

		g.include[0] = '\0';
		each_line(copy, gather_guards, &g);
		free(copy);
		snprintf(next, sizeof(next), "%.*s", (int)strcspn(g.include, ", "), g.include);
		copy = *next ? read_conf(m, next) : NULL;
	}
	free(copy);
	return g.guards;
}

bool tuned_is_ours(const struct machine *m, const char *conf)
{
	char line[sizeof(TUNED_OURS)];

	return !sysroot_line(&m->root, conf, line, sizeof(line)) && !strncmp(line, TUNED_OURS, strlen(TUNED_OURS) - 1);
}

static int name_owner(void *context)
{
	holder_write_pid(*(const int *)context, getpid());
	return 0;
}

int tuned_command(const char *const argv[], int lock, int limit_ms, char *said, size_t size)
{
	const struct spawn s = {.words = argv, .kept = lock, .prepare = lock < 0 ? NULL : name_owner, .context = &lock};

	return spawn_output(&s, limit_ms, said, size);
}

int tuned_daemon(struct machine *m)
{
	pid_t ours = m->root.live ? holder_pid(m, "tuned") : 0;
	int pid = tasks_find(m, "tuned");

	return pid == ours ? 0 : pid;
}

int tuned_ask_active(char *profile, size_t size)
{
	static const char *const argv[] = {"tuned-adm", "active", NULL};
	static const char label[] = "Current active profile: ";
	char said[4096], *found;
	int rc = tuned_command(argv, -1, TUNED_COMMAND_MS, said, sizeof(said));

	profile[0] = '\0';
	found = strstr(said, label);
	if (found) {
		found += strlen(label);
		snprintf(profile, size, "%.*s", (int)strcspn(found, "\n"), found);
	}
	return rc;
}

bool tuned_active(char *profile, size_t size)
{
	return tuned_ask_active(profile, size) == 0;
}

bool tuned_is_installed(const struct machine *m)
{
	return sysroot_exists(&m->root, "/usr/sbin/tuned") || sysroot_exists(&m->root, "/sbin/tuned");
}
