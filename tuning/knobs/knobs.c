#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/text.h"
#include "tuning/knobs/knob.h"
#include "tuning/knobs/values.h"
#include "tuning/machine/machine.h"

/*
 * The order of the writes. irqbalance sleeps before anybody's interrupts are moved; threads are looked at before cpusets
 * change their masks, and again after; tuned comes before the values, so that what a profile asks for by name counts; SMT
 * goes last and so comes back first, before anything is put back onto its threads.
 */
const struct knob knobs[] = {
    {"irqbalance", plan_irqbalance, "pause: the daemon sleeps (SIGSTOP) and goes on afterwards; leave", NULL},
    {"irqs", plan_irqs, "default, all, devices: [{device, cpus}]: where interrupts may fire", NULL},
    {"tasks", plan_tasks, "away: programs and movable kernel threads leave the shields' CPUs; leave", NULL},
    {"shields", plan_shields, "[{name, place, partition}]: cpusets for what is to run undisturbed", NULL},
    {"tuned", plan_tuned, "a tuned profile's name; own: the tuned.conf beside the profile", NULL},
    {"workqueues", plan_values, "placement of unbound work queues", &values_workqueues},
    {"watchdog_cpus", plan_values, "placement of the lockup watchdogs", &values_watchdog_cpus},
    {"watchdog", plan_values, "off: no soft and hard lockup watchdogs", &values_watchdog},
    {"nmi_watchdog", plan_values, "off: no hard lockup watchdog, which takes a performance counter", &values_nmi},
    {"timer_migration", plan_values, "off: timers stay on the CPU that set them", &values_timer_migration},
    {"numa_balancing", plan_values, "off: no pages are unmapped to see who uses them", &values_numa_balancing},
    {"stat_interval", plan_values, "seconds between updates of vmstat's per-CPU counters", &values_stat_interval},
    {"sched_rt_runtime", plan_values, "us of each period for real-time threads; unlimited", &values_rt_runtime},
    {"thp", plan_values, "transparent huge pages: always, madvise, never", &values_thp},
    {"thp_defrag", plan_values, "how hard is tried to make huge pages", &values_thp_defrag},
    {"ksm", plan_values, "off: no merging of same pages", &values_ksm},
    {"aspm", plan_values, "PCIe link power: default, performance, powersave", &values_aspm},
    {"turbo", plan_values, "on or off", &values_turbo},
    {"epb", plan_values, "energy performance bias: performance..power or 0..15", &values_epb},
    {"epp", plan_values, "energy performance preference: performance, ...", &values_epp},
    {"governor", plan_values, "cpufreq governor", &values_governor},
    {"max_frequency", plan_values, "min, max or a frequency such as 2400MHz", &values_max_frequency},
    {"min_frequency", plan_values, "min, max or a frequency such as 2400MHz", &values_min_frequency},
    {"cstates", plan_cstates, "idle states that may be left in so many us, or: all", NULL},
    {"cpu_latency", plan_values, "per-CPU PM QoS: wake-up latency in us; none: no sleep; any", &values_cpu_latency},
    {"sysctl", plan_files, "{name: value}: any sysctl", "/proc/sys/"},
    {"sysfs", plan_files, "{path: value}: any file below /sys", "/sys/"},
    {"dma_latency", plan_latency, "global PM QoS: /dev/cpu_dma_latency held at so many us", NULL},
    {"smt", plan_values, "off: one thread a core", &values_smt},
    {"kernel_arguments", plan_boot_arguments, "{name: value or placement}: checked, never written", NULL},
    {NULL, NULL, NULL, NULL},
};

const struct knob *knob_find(const char *key)
{
	for (const struct knob *k = knobs; k->key; k++)
		if (!strcmp(k->key, key))
			return k;
	return NULL;
}

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (!strcasecmp(word, *words))
			return true;
	return false;
}

bool setting_is_on(const struct setting *s, const struct ynode *n)
{
	static const char *const on[] = {"on", "yes", "true", "1", NULL}, *const off[] = {"off", "no", "false", "0",
											  NULL};
	char quoted[TEXT_QUOTE_MAX];

	if (n->kind == YNODE_SCALAR && is_one_of(n->scalar, on))
		return true;
	if (n->kind != YNODE_SCALAR || !is_one_of(n->scalar, off))
		profile_fault(s, n, "wants on or off%s%s", n->kind == YNODE_SCALAR ? ", not " : "",
			      n->kind == YNODE_SCALAR ? text_quote(n->scalar, quoted, sizeof(quoted)) : "");
	return false;
}

void setting_check_keys(const struct setting *s, const struct ynode *map, const char *const *names)
{
	char quoted[TEXT_QUOTE_MAX];

	for (size_t i = 0; i < map->count; i++) {
		const struct ynode *key = map->keys[i];
		const char *near = suggest(key->scalar, names);
		const char *const *n = names;

		while (*n && strcmp(*n, key->scalar))
			n++;
		if (!*n)
			profile_fault(s, key, "unknown key %s in '%s'%s%s%s",
				      text_quote(key->scalar, quoted, sizeof(quoted)), s->key,
				      near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	}
}

static void plan_all(struct planner *p)
{
	for (const struct knob *k = knobs; k->key && !p->e->status; k++) {
		const struct setting *s = profile_get(p->profile, k->key);

		if (s)
			k->plan(p, s, k);
		/* Cpusets widen the masks of threads that had one of their own. */
		if (!strcmp(k->key, "shields"))
			plan_tasks_again(p);
	}
}

static void consider_smt(struct planner *p)
{
	const struct setting *s = profile_get(p->profile, "smt");

	char now[32] = "";

	sysroot_line(&p->m->root, "/sys/devices/system/cpu/smt/control", now, sizeof(now));
	if (s && !setting_is_on(s, s->value) && !strcmp(now, "on"))
		topology_without_smt(&p->topo);
}

int knobs_plan(struct machine *m, struct profile *profile, struct plan *plan, struct err *e)
{
	struct planner p = {.m = m, .profile = profile, .plan = plan, .e = e};
	const struct setting *shields = profile_get(profile, "shields");
	int rc;

	plan_init(plan, profile->name, profile->title);
	rc = topology_read(m, &p.topo, e);
	if (rc)
		return rc;
	cgroups_find(m, &p.cg);
	consider_smt(&p);
	plan->online = plan->housekeeping = p.topo.online;
	rc = shields ? place_shields(&p, shields) : 0;
	if (!rc)
		plan_all(&p);
	topology_free(&p.topo);
	if (profile_has_faults(profile))
		return -EINVAL;
	return rc ? rc : e->status ? -EBUSY : 0;
}
