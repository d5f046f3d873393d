/* sysctl: and sysfs:, any file by name; cstates:, the idle states of each CPU; kernel_arguments:, read only. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/text.h"
#include "common/units.h"
#include "tuning/knobs/knob.h"
#include "tuning/machine/machine.h"
#include "tuning/ops/op_file.h"

#define CPUIDLE "/sys/devices/system/cpu/cpu%d/cpuidle"

/* "vm.swappiness" and "/sys/a/b" -> a path below `base`; NULL for what would leave it. As sysctl(8): a name with a slash
 * in it is taken as it is, else dots separate. */
static char *path_of(const char *name, const char *base)
{
	bool is_path = !strncmp(name, base, strlen(base)), dots = !strchr(name, '/');
	char *path;

	if (!*name || (!is_path && name[0] == '/') || strstr(name, ".."))
		return NULL;
	path = fs_path("%s%s", base, is_path ? name + strlen(base) : name);
	for (char *c = path + strlen(base); dots && *c; c++)
		if (*c == '.')
			*c = '/';
	return path;
}

/* A choice between words is known by its brackets. */
static enum form form_of(const struct machine *m, const char *path)
{
	char line[512];

	return !sysroot_line(&m->root, path, line, sizeof(line)) && strchr(line, '[') && strchr(line, ']') ? FORM_CHOICE
													   : FORM_TEXT;
}

void plan_files(struct planner *p, const struct setting *s, const struct knob *k)
{
	char quoted[TEXT_QUOTE_MAX];

	if (s->value->kind != YNODE_MAPPING) {
		profile_fault(s, s->value, "'%s' wants a mapping {name: value}", s->key);
		return;
	}
	for (size_t i = 0; i < s->value->count; i++) {
		const struct ynode *key = s->value->keys[i], *value = s->value->items[i];
		char *path = path_of(key->scalar, k->row);

		if (!path)
			profile_fault(s, key, "%s is no name below %s", text_quote(key->scalar, quoted, sizeof(quoted)),
				      (const char *)k->row);
		else if (value->kind != YNODE_SCALAR || !*value->scalar || strlen(value->scalar) >= FORM_VALUE_MAX / 2)
			profile_fault(s, value, "a value is a text");
		else
			op_file_plan(p->plan, p->m, s->key, path, form_of(p->m, path), value->scalar,
				     "this kernel has no such file");
		free(path);
	}
}

/* "all", or how long it may take to leave a state, in ns. */
static bool take_latency(const struct setting *s, int64_t *ns)
{
	char why[200];

	*ns = INT64_MAX;
	if (s->value->kind != YNODE_SCALAR) {
		profile_fault(s, s->value, "'cstates' wants a time such as 10us, or all");
		return false;
	}
	if (!strcmp(s->value->scalar, "all"))
		return true;
	if (!unit_parse(UNIT_TIME_NS, s->value->scalar, ns, why, sizeof(why)))
		return true;
	profile_fault(s, s->value, "%s, or all", why);
	return false;
}

static void plan_state(struct planner *p, const struct setting *s, const char *folder, int64_t limit)
{
	char *path = fs_path("%s/latency", folder);
	int64_t us = 0;
	int rc = sysroot_int(&p->m->root, path, &us);

	free(path);
	path = fs_path("%s/disable", folder);
	if (!rc)
		op_file_plan(p->plan, p->m, s->key, path, FORM_TEXT, us * 1000 > limit ? "1" : "0",
			     "this idle state cannot be switched");
	free(path);
}

void plan_cstates(struct planner *p, const struct setting *s, const struct knob *k)
{
	int64_t limit;
	int found = 0;

	(void)k;
	if (!take_latency(s, &limit))
		return;
	for (int cpu = cpulist_first(&p->topo.online); cpu >= 0; cpu = cpulist_next(&p->topo.online, cpu)) {
		char *folder = fs_path(CPUIDLE, cpu), **states;
		int n = sysroot_list(&p->m->root, folder, "state[0-9]*", &states);

		for (int i = 0; i < n; i++) {
			char *state = fs_path("%s/%s", folder, states[i]);

			plan_state(p, s, state, limit);
			free(state);
		}
		if (n >= 0)
			sysroot_names_free(states);
		found += n > 0 ? n : 0;
		free(folder);
	}
	if (!found)
		plan_missing(p->plan, s->key, "cpuidle",
			     "there are no idle states to choose from here (no cpuidle driver)");
}

/* The value of an argument on a command line, or NULL. The last one counts. The caller frees. */
static char *argument(const char *line, const char *name)
{
	size_t n = strlen(name);
	char *value = NULL;

	for (line += strspn(line, " \n"); *line; line += strcspn(line, " \n"), line += strspn(line, " \n")) {
		if (strncmp(line, name, n) || !strchr("= \n", line[n]))
			continue;
		free(value);
		line += n + (line[n] == '=');
		value = strndup(line, strcspn(line, " \n"));
		if (!value)
			abort();
	}
	return value;
}

/* isolcpus=managed_irq,domain,2-3: flags come before the CPUs. */
static const char *without_flags(const char *value)
{
	while (*value && !(*value >= '0' && *value <= '9') && strchr(value, ','))
		value = strchr(value, ',') + 1;
	return value;
}

static void check_argument(struct planner *p, const struct setting *s, const struct ynode *key,
			   const struct ynode *value, const char *line)
{
	bool plain = value->kind == YNODE_SCALAR && strcmp(key->scalar, "isolcpus") &&
		     strcmp(key->scalar, "nohz_full") && strcmp(key->scalar, "rcu_nocbs") &&
		     strcmp(key->scalar, "irqaffinity");
	char want[FORM_VALUE_MAX], why[300], *have;
	struct cpulist cpus;
	int rc = 0;

	if (plain)
		snprintf(want, sizeof(want), "%s", value->scalar);
	else
		rc = place_resolve(p, s, value, &cpus, why, sizeof(why));
	if (rc == -ENODEV)
		plan_missing(p->plan, s->key, key->scalar, "%s", why);
	if (rc)
		return;
	if (!plain)
		cpulist_format(&cpus, want, sizeof(want));
	have = argument(line, key->scalar);
	plan_boot(p->plan, key->scalar, want, have,
		  have && form_same(plain ? FORM_TEXT : FORM_LIST, plain ? have : without_flags(have), want));
	free(have);
}

void plan_boot_arguments(struct planner *p, const struct setting *s, const struct knob *k)
{
	char *line;

	(void)k;
	if (s->value->kind != YNODE_MAPPING) {
		profile_fault(s, s->value, "'%s' wants a mapping {name: value}", s->key);
		return;
	}
	if (machine_read(p->m, "/proc/cmdline", &line)) {
		plan_missing(p->plan, s->key, "/proc/cmdline", "it cannot be read");
		return;
	}
	for (size_t i = 0; i < s->value->count; i++)
		check_argument(p, s, s->value->keys[i], s->value->items[i], line);
	free(line);
}
