#include "tuning/knobs/knob.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "tuning/knobs/place.h"
#include "tuning/machine/form.h"
#include "tuning/machine/machine.h"

/* The value of an argument on a command line, or NULL. The last one counts. The caller frees. */
static char *find_argument(const char *line, const char *name)
{
	size_t n = strlen(name);
	char *value = NULL;

	for (line += strspn(line, " \n"); *line; line += strcspn(line, " \n"), line += strspn(line, " \n")) {
		if (strncmp(line, name, n) || !strchr("= \n", line[n]))
			continue;
		free(value);
		line += n + (line[n] == '=');
		value = or_abort(strndup(line, strcspn(line, " \n")));
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
	char list[CPULIST_TEXT_MAX], *have;
	const char *want = value->scalar;
	struct cpulist cpus;

	if (!plain && place_resolve(p, s, value, key->scalar, &cpus))
		return;
	if (!plain)
		want = cpulist_format(&cpus, list, sizeof(list));
	have = find_argument(line, key->scalar);
	plan_boot(p->plan, key->scalar, want, have,
		  have && form_same(plain ? FORM_TEXT : FORM_LIST, plain ? have : without_flags(have), want));
	free(have);
}

void knob_boot_plan(struct planner *p, const struct setting *s, const struct knob *k)
{
	char *line;

	(void)k;
	if (s->value->kind != YNODE_MAPPING) {
		setting_must_be(s, s->value, s->key, "a mapping {name: value}");
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
