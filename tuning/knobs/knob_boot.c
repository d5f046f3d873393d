#include "tuning/knobs/knob.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/boot_arguments.h"
#include "tuning/knobs/place.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/tasks.h"

#define CPU "/sys/devices/system/cpu"

static int add_offloaded(const struct thread *t, void *context)
{
	char *end;
	unsigned long cpu;

	if (!t->is_kernel || (strncmp(t->name, "rcuop/", 6) && strncmp(t->name, "rcuos/", 6)))
		return 0;
	cpu = strtoul(t->name + 6, &end, 10);
	if (end > t->name + 6 && !*end && cpu < CPULIST_MAX)
		cpulist_add(context, (unsigned)cpu);
	return 0;
}

/* What the kernel has made of its command line, which counts more: it may have found a fault there, or have been told again.
 * False: it does not say. */
static bool ask_kernel(const struct planner *p, const char *name, struct cpulist *cpus)
{
	cpulist_clear(cpus);
	if (!strcmp(name, "isolcpus"))
		return !machine_read_cpus(p->m, CPU "/isolated", cpus);
	if (!strcmp(name, "nohz_full"))
		return !machine_read_cpus(p->m, CPU "/nohz_full", cpus);
	/* Each CPU whose callbacks others run has a thread for them, also those of nohz_full. */
	if (!strcmp(name, "rcu_nocbs"))
		tasks_each(p->m, add_offloaded, cpus);
	return cpulist_first(cpus) >= 0;
}

static int last_possible(const struct planner *p)
{
	int last = -1;

	for (int cpu = cpulist_first(&p->topo.possible); cpu >= 0; cpu = cpulist_next(&p->topo.possible, cpu))
		last = cpu;
	return last;
}

/* Of rcu_nocbs: nohz_full implies it. */
static int read_line(const struct planner *p, const char *line, const char *name, const char *values,
		     struct cpulist *cpus)
{
	int rc = boot_arguments_cpus(name, values, last_possible(p), cpus);
	struct cpulist more;
	char *other;

	if (rc || strcmp(name, "rcu_nocbs"))
		return rc;
	other = boot_arguments_find(line, "nohz_full");
	if (!boot_arguments_cpus("nohz_full", other, last_possible(p), &more))
		cpulist_unite(cpus, &more);
	free(other);
	return 0;
}

/* NULL: there are none, and none were asked for. */
static const char *name_cpus(const struct cpulist *cpus, const char *said, char *buf, size_t size)
{
	if (cpulist_first(cpus) >= 0)
		return cpulist_format(cpus, buf, size);
	return said ? "none" : NULL;
}

/* One that is a set of CPUs. `said`: its values on the command line, or NULL. */
static void check_set(struct planner *p, const char *name, const struct cpulist *want, const char *said,
		      const char *line)
{
	char list[CPULIST_TEXT_MAX], is[CPULIST_TEXT_MAX];
	struct cpulist have, written;
	bool asked = ask_kernel(p, name, &have), is_read = !read_line(p, line, name, said, &written), met;

	cpulist_format(want, list, sizeof(list));
	if (!asked && !is_read) {
		plan_boot(p->plan, name, list, said, false);
		return;
	}
	if (!asked)
		have = written;
	/* Callbacks that run elsewhere from more CPUs do no harm, and nohz_full brings them along. */
	met = strcmp(name, "rcu_nocbs") ? !memcmp(want, &have, sizeof(have)) : cpulist_is_subset(want, &have);
	plan_boot(p->plan, name, list, name_cpus(&have, said, is, sizeof(is)), met);
	if (asked && said && (!is_read || memcmp(&have, &written, sizeof(have))))
		plan_warn(p->plan, "the command line says %s=%s; the kernel has made %s of it", name, said,
			  name_cpus(&have, said, is, sizeof(is)));
}

static void check_argument(struct planner *p, const struct setting *s, const struct ynode *key,
			   const struct ynode *value, const char *line)
{
	char list[CPULIST_TEXT_MAX], *said = boot_arguments_find(line, key->scalar);
	struct cpulist cpus;
	bool is_set = !boot_arguments_cpus(key->scalar, "", 0, &cpus);
	const char *want = value->scalar;

	if ((is_set || value->kind != YNODE_SCALAR) && place_resolve(p, s, value, key->scalar, &cpus)) {
		free(said);
		return;
	}
	if (is_set) {
		check_set(p, key->scalar, &cpus, said, line);
	} else {
		if (value->kind != YNODE_SCALAR)
			want = cpulist_format(&cpus, list, sizeof(list));
		plan_boot(p->plan, key->scalar, want, said, boot_arguments_same(key->scalar, said, -1, want, -1));
	}
	free(said);
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
