#include "tuning/knobs/knobs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "tuning/knobs/knob_values.h"
#include "tuning/knobs/place.h"
#include "tuning/machine/ethtool.h"
#include "tuning/machine/machine.h"

#define CPU	"/sys/devices/system/cpu"
#define CPUFREQ CPU "/cpu%d/cpufreq"

/* A knob that is just a value in a file, or in one file per CPU; the rest of its row is a struct value_row. */
#define VALUE(...)                                                                                                     \
	knob_values_plan, &(const struct value_row)                                                                    \
	{                                                                                                              \
		__VA_ARGS__                                                                                            \
	}
#define ON_OFF                                                                                                         \
	{                                                                                                              \
		{"on", "1"},                                                                                           \
		{                                                                                                      \
			"off", "0"                                                                                     \
		}                                                                                                      \
	}
#define MAX_MIN                                                                                                        \
	{                                                                                                              \
		{"max", "@cpuinfo_max_freq"},                                                                          \
		{                                                                                                      \
			"min", "@cpuinfo_min_freq"                                                                     \
		}                                                                                                      \
	}
#define OFF                                                                                                            \
	{                                                                                                              \
		{                                                                                                      \
			"off", "0"                                                                                     \
		}                                                                                                      \
	}
#define NO_CPUFREQ "there is no cpufreq driver here (a virtual machine, or the firmware keeps it for itself)"

/*
 * Knobs are in the order in which they are applied. What takes interfaces away is first, so that nothing else is planned for
 * them, and the new interrupts of a card that comes back get everybody's defaults. What gives a card other interrupts, and threads
 * that poll it, comes before these are moved; a veth pair has such threads only with GRO. irqbalance
 * is stopped before interrupts are moved. Threads are examined before cpusets change their masks, and
 * again afterwards. tuned comes before values, so that values given explicitly in a profile take
 * precedence. SMT is last when applying, and thus first when restoring, before anything is moved back
 * to its threads.
 */
/* clang-format off */
const struct knob knobs[] = {
	{"bind", "{card: vfio-pci or uio_pci_generic}: network cards, by PCI address or interface, that a program drives itself (DPDK)",
	 knob_bind_plan, NULL, .cost = "the system does not have the card: its interfaces are gone"},
	{"interfaces", "all, an interface such as eth0, or a list: which network cards the settings of cards are for (all: those with a device; default)",
	 knob_cards_plan, NULL},
	{"channels", "{rx, tx, other, combined}: queues of cards; a number or max", knob_cards_plan_group, &ethtool_channels,
	 .cost = "with fewer, fewer CPUs share the work of the card; its link may go down for a moment", .of_cards = true},
	{"rings", "{rx, tx, rx_mini, rx_jumbo}: frames that the rings of cards hold; a number or max", knob_cards_plan_group, &ethtool_rings,
	 .cost = "if small: frames are lost in bursts; if large: more cache; the link may go down for a moment", .of_cards = true},
	{"coalesce", "{adaptive_rx, adaptive_tx, rx_us, rx_frames, tx_us, tx_frames, rx_us_irq, rx_frames_irq, tx_us_irq, tx_frames_irq, cqe_rx, cqe_tx}: how long cards wait before they interrupt",
	 knob_cards_plan_group, &ethtool_coalesce,
	 .cost = "if short: processor time, an interrupt for each frame", .of_cards = true},
	{"offloads", "{name: on or off}, as ethtool -k or the kernel names them: gro, lro, gso, tso, rx-gro-hw, ...", knob_cards_plan_group, &ethtool_offloads,
	 .cost = "off: processor time, for what the card did; on: may delay frames to merge them", .of_cards = true, .each_name = true},
	{"napi_threaded", "on: cards are polled by threads, which can be placed; off: in software interrupts",
	 VALUE(.of_card = true, .paths = {"threaded"}, .words = ON_OFF, .absent = "this kernel cannot poll cards in threads"),
	 .cost = "a switch between threads for each batch of frames", .of_cards = true},
	{"irqbalance", "pause: stop the daemon (SIGSTOP), and continue it when the profile is undone; leave: let it run",
	 knob_irqs_plan_balance, NULL,
	 .cost = "interrupts are no longer spread over the CPUs by load"},
	{"irqs", "default, all, devices: [{device, cpus}]: where interrupts may fire", knob_irqs_plan, NULL,
	 .cost = "the other CPUs serve all interrupts"},
	{"tasks", "away: move programs and movable kernel threads off the shields' CPUs; leave: do not move them", knob_tasks_plan, NULL,
	 .cost = "programs and kernel threads run only on the other CPUs"},
	{"shields", "[{name, place, partition}]: cpusets with CPUs reserved for programs that must not be disturbed",
	 knob_shields_plan, NULL,
	 .cost = "no other program may use their CPUs"},
	{"tasks", NULL, knob_tasks_plan_again, NULL},
	{"tuned", "the name of a tuned profile; own: the tuned.conf in the profile's folder", knob_tuned_plan, NULL,
	 .cost = "depends on the tuned profile; latency-performance: power, because CPUs stay fast and awake"},
	{"workqueues", "CPUs on which unbound work queues may run",
	 VALUE(.paths = {"/sys/devices/virtual/workqueue/cpumask"}, .kind = VALUE_PLACE,
	       .form = FORM_MASK, .absent = "this kernel's work queues have no CPU mask"),
	 .cost = "the other CPUs do the kernel's deferred work"},
	{"watchdog_cpus", "CPUs on which the lockup watchdogs run",
	 VALUE(.paths = {"/proc/sys/kernel/watchdog_cpumask"}, .kind = VALUE_PLACE, .form = FORM_LIST,
	       .absent = "this kernel has no lockup watchdog"),
	 .cost = "lockups of the shields' CPUs go unnoticed"},
	{"watchdog", "off: no soft and hard lockup watchdogs",
	 VALUE(.paths = {"/proc/sys/kernel/watchdog"}, .words = ON_OFF,
	       .absent = "this kernel has no lockup watchdog"),
	 .cost = "lockups go unnoticed"},
	{"nmi_watchdog", "off: no hard lockup watchdog, which takes a performance counter",
	 VALUE(.paths = {"/proc/sys/kernel/nmi_watchdog"}, .words = ON_OFF,
	       .absent = "this kernel has no hard lockup watchdog"),
	 .cost = "hard lockups go unnoticed"},
	{"timer_migration", "off: timers stay on the CPU that set them",
	 VALUE(.paths = {"/proc/sys/kernel/timer_migration"}, .words = ON_OFF,
	       .absent = "this kernel does not migrate timers"),
	 .cost = "power: idle CPUs wake for their own timers"},
	{"numa_balancing", "off: no pages are unmapped to see who uses them",
	 VALUE(.paths = {"/proc/sys/kernel/numa_balancing"}, .words = ON_OFF,
	       .absent = "this kernel has no NUMA balancing"),
	 .cost = "programs on several nodes: memory stays on its node, even if another one uses it"},
	{"stat_interval", "seconds between updates of vmstat's per-CPU counters",
	 VALUE(.paths = {"/proc/sys/vm/stat_interval"}, .kind = VALUE_NUMBER, .min = 1, .max = 86400,
	       .absent = "this kernel has no such setting"),
	 .cost = "memory counters are updated late"},
	{"sched_rt_runtime", "us of each period in which real-time threads may run; unlimited: no limit",
	 VALUE(.paths = {"/proc/sys/kernel/sched_rt_runtime_us"}, .kind = VALUE_NUMBER,
	       .words = {{"unlimited", "-1"}}, .max = 1000000,
	       .absent = "this kernel does not limit real-time threads"),
	 .cost = "a real-time thread that never sleeps blocks its CPU forever"},
	{"thp", "transparent huge pages: always, madvise, never",
	 VALUE(.paths = {"/sys/kernel/mm/transparent_hugepage/enabled"}, .form = FORM_CHOICE,
	       .any_word = true, .absent = "this kernel has no transparent huge pages"),
	 .cost = "programs that use much memory: more TLB misses"},
	{"thp_defrag", "how hard the kernel tries to make huge pages",
	 VALUE(.paths = {"/sys/kernel/mm/transparent_hugepage/defrag"}, .form = FORM_CHOICE,
	       .any_word = true, .absent = "this kernel has no transparent huge pages"),
	 .cost = "programs that use much memory: fewer huge pages"},
	{"ksm", "off: no merging of identical pages",
	 VALUE(.paths = {"/sys/kernel/mm/ksm/run"}, .words = ON_OFF,
	       .absent = "this kernel does not merge identical pages"),
	 .cost = "memory: identical pages of virtual machines are stored separately"},
	{"aspm", "PCIe link power: default, performance, powersave",
	 VALUE(.paths = {"/sys/module/pcie_aspm/parameters/policy"}, .form = FORM_CHOICE,
	       .any_word = true, .may_refuse = true,
	       .absent = "this kernel does not manage PCIe link power"),
	 .cost = "power: PCIe links never sleep"},
	{"turbo", "turbo frequencies: on or off",
	 VALUE(.paths = {CPU "/intel_pstate/no_turbo", CPU "/cpufreq/boost", CPUFREQ "/boost"},
	       .words = ON_OFF, .inverted = {true}, .may_refuse = true,
	       .absent = "nothing here switches turbo (no intel_pstate, no cpufreq boost)"),
	 .cost = "off: the highest frequencies; on: power and heat"},
	{"epb", "energy performance bias: performance..power or 0..15",
	 VALUE(.paths = {CPU "/cpu%d/power/energy_perf_bias"}, .kind = VALUE_NUMBER,
	       .words = {{"performance", "0"}, {"balance-performance", "4"}, {"normal", "6"},
			 {"balance-power", "8"}, {"power", "15"}},
	       .max = 15, .may_refuse = true, .absent = "this CPU has no energy performance bias"),
	 .cost = "power, with performance"},
	{"epp", "energy performance preference, such as performance",
	 VALUE(.paths = {CPUFREQ "/energy_performance_preference"}, .any_word = true, .may_refuse = true,
	       .offers = "energy_performance_available_preferences",
	       .absent = "no energy performance preference here (intel_pstate or amd_pstate, active)"),
	 .cost = "power, with performance"},
	{"governor", "cpufreq governor, such as performance",
	 VALUE(.paths = {CPUFREQ "/scaling_governor"}, .any_word = true,
	       .offers = "scaling_available_governors", .absent = NO_CPUFREQ),
	 .cost = "power, with performance: CPUs stay at their highest frequency"},
	{"max_frequency", "upper limit of the CPU frequency: min, max or a value such as 2400MHz",
	 VALUE(.paths = {CPUFREQ "/scaling_max_freq"}, .kind = VALUE_FREQUENCY, .words = MAX_MIN,
	       .absent = NO_CPUFREQ),
	 .cost = "if low: everything is slower"},
	{"min_frequency", "lower limit of the CPU frequency: min, max or a value such as 2400MHz",
	 VALUE(.paths = {CPUFREQ "/scaling_min_freq"}, .kind = VALUE_FREQUENCY, .words = MAX_MIN,
	       .absent = NO_CPUFREQ),
	 .cost = "if high: power"},
	{"cstates", "allow only idle states with an exit latency of at most this many us; all: all of them", knob_idle_plan_states, NULL,
	 .cost = "power and heat: CPUs sleep lightly or not at all, and others get less turbo"},
	/* The kernel's values are unusual: 0 means no restriction, and "n/a" means no latency at all. */
	{"cpu_latency", "per-CPU PM QoS: maximum wake-up latency in us; none: no idle states; any: no limit",
	 VALUE(.paths = {CPU "/cpu%d/power/pm_qos_resume_latency_us"}, .kind = VALUE_NUMBER,
	       .words = {{"any", "0"}, {"none", "n/a"}, {"0", "n/a"}}, .min = 1, .max = 1999999999,
	       .absent = "this kernel has no per-CPU PM QoS"),
	 .cost = "power and heat: these CPUs sleep lightly or not at all"},
	{"busy_read", "us that a blocking read spends polling the card; off: none",
	 VALUE(.paths = {"/proc/sys/net/core/busy_read"}, .kind = VALUE_TIME, .unit_ns = 1000, .words = OFF, .max = INT_MAX,
	       .absent = "this kernel does not poll cards for a reader"),
	 .cost = "processor time: readers poll instead of sleeping"},
	{"busy_poll", "us that poll() and select() spend polling the card; off: none",
	 VALUE(.paths = {"/proc/sys/net/core/busy_poll"}, .kind = VALUE_TIME, .unit_ns = 1000, .words = OFF, .max = INT_MAX,
	       .absent = "this kernel does not poll cards for a reader"),
	 .cost = "processor time: readers poll instead of sleeping"},
	{"napi_defer_irqs", "how many polls of a card that find nothing keep its interrupts off; off: none",
	 VALUE(.of_card = true, .paths = {"napi_defer_hard_irqs"}, .kind = VALUE_NUMBER, .words = OFF, .max = INT_MAX,
	       .absent = "this kernel does not defer interrupts"),
	 .cost = "without a reader that polls, messages wait for gro_flush_timeout", .of_cards = true},
	{"gro_flush_timeout", "a time such as 20us after which a card is polled while its interrupts are deferred; off",
	 VALUE(.of_card = true, .paths = {"gro_flush_timeout"}, .kind = VALUE_TIME, .unit_ns = 1, .words = OFF, .max = INT_MAX,
	       .absent = "this kernel has no such setting"),
	 .cost = "processor time, if it is short: a timer for each queue", .of_cards = true},
	{"rps", "CPUs that process what the queues of cards receive; off: those that the card interrupts",
	 VALUE(.of_card = true, .paths = {"queues/rx-[0-9]*/rps_cpus"}, .kind = VALUE_PLACE, .form = FORM_MASK, .words = OFF,
	       .absent = "this kernel has no RPS"),
	 .cost = "an interrupt between CPUs for each batch of frames; off: CPUs without a queue receive nothing", .of_cards = true},
	{"xps", "CPUs that send over the queues of cards; spread: each CPU over one queue; off: the driver chooses",
	 VALUE(.of_card = true, .may_spread = true, .paths = {"queues/tx-[0-9]*/xps_cpus"}, .kind = VALUE_PLACE,
	       .form = FORM_MASK, .words = OFF, .absent = "it has one queue only, or this kernel has no XPS"),
	 .cost = "a sender may find its queue full while others are empty", .of_cards = true},
	{"sysctl", "{name: value}: any sysctl", knob_values_plan_files, "/proc/sys/", .each_name = true},
	{"sysfs", "{path: value}: any file below /sys", knob_values_plan_files, "/sys/", .each_name = true},
	{"dma_latency", "global PM QoS: hold /dev/cpu_dma_latency at this many us", knob_idle_plan_latency, NULL,
	 .cost = "power and heat: no CPU sleeps deeply"},
	{"smt", NULL, knob_tasks_plan_smt, NULL},
	{"smt", "off: one thread per core",
	 VALUE(.paths = {CPU "/smt/control"}, .words = {{"on", "on"}, {"off", "off"}}, .may_refuse = true,
	       .absent = "this kernel cannot switch SMT"),
	 .cost = "half of the hardware threads"},
	{"kernel_arguments", "{name: value or place}: boot parameters of the kernel; only checked, never changed", knob_boot_plan, NULL},
	{.key = NULL},
};
/* clang-format on */

const char *const *knobs_keys(void)
{
	static const char *keys[sizeof(knobs) / sizeof(knobs[0])];
	size_t count = 0;

	for (const struct knob *k = knobs; k->key; k++)
		if (k->help)
			keys[count++] = k->key;
	return keys;
}

/* Under the governor performance, drivers refuse every other preference (EBUSY): that one goes before the preferences are
 * set, and comes back when they are put back, as undoing is the other way round. */
static bool governor_goes_first(const struct planner *p)
{
	bool is_found = false;

	for (int cpu = cpulist_first(&p->topo.online); !is_found && cpu >= 0;
	     cpu = cpulist_next(&p->topo.online, cpu)) {
		char path[sizeof(CPUFREQ) + 32], now[32] = "";

		snprintf(path, sizeof(path), CPUFREQ "/scaling_governor", cpu);
		is_found = sysroot_line(&p->m->root, path, now, sizeof(now)) >= 0 && !strcmp(now, "performance");
	}
	return is_found;
}

static void plan_knob(struct planner *p, const struct knob *k)
{
	const struct setting *s = profile_get(p->profile, k->key);

	if (s && !s->left_out)
		k->plan(p, s, k);
}

const struct knob *knob_find(const char *key)
{
	const struct knob *k = knobs;

	while (k->key && (!k->help || strcmp(k->key, key) != 0))
		k++;
	return k;
}

static void plan_all(struct planner *p)
{
	const struct knob *governor = governor_goes_first(p) ? knob_find("governor") : NULL;

	for (const struct knob *k = knobs; k->key && !p->e->status; k++) {
		if (governor && !strcmp(k->key, "epp"))
			plan_knob(p, governor);
		if (k != governor)
			plan_knob(p, k);
	}
}

static void consider_smt(struct planner *p)
{
	const struct setting *s = profile_get(p->profile, "smt");
	char now[32] = "";

	sysroot_line(&p->m->root, "/sys/devices/system/cpu/smt/control", now, sizeof(now));
	if (s && !s->left_out && !setting_is_on(s, s->value, s->key) && !strcmp(now, "on"))
		topology_without_smt(&p->topo);
}

/* What else is wrong with a profile: the settings that could be read are planned, for no other reason. */
static void find_more_faults(struct machine *m, struct profile *profile)
{
	struct plan unused = {0};
	struct err ignored = ERR_INIT;

	knobs_plan(m, profile, &unused, &ignored);
	plan_free(&unused);
}

int knobs_load(struct machine *m, const char *name, const struct cli_list *without, struct profile *profile,
	       struct err *e)
{
	int rc = profile_load(name, knobs_keys(), profile, e);

	if (rc == -EINVAL)
		find_more_faults(m, profile);
	return rc || !without ? rc : profile_leave_out(profile, without->items, without->count, e);
}

int knobs_plan(struct machine *m, struct profile *profile, struct plan *plan, struct err *e)
{
	struct planner p = {.m = m, .profile = profile, .plan = plan, .e = e};
	const struct setting *shields = profile_get(profile, "shields");
	int rc;

	plan_init(plan, profile->name, profile->title);
	plan->from_profile = true;
	for (size_t i = 0; i < profile->setting_count; i++)
		if (profile->settings[i].left_out)
			json_array_append_new(plan->without, json_string(profile->settings[i].key));
	rc = topology_read(m, &p.topo, e);
	if (rc)
		return rc;
	cgroups_find(m, &p.cg);
	consider_smt(&p);
	plan->online = plan->housekeeping = p.topo.online;
	rc = shields ? place_shields(&p, shields) : 0;
	/* After a fault in the shields, too, so that all faults are told together. */
	if (!rc || profile_has_faults(profile))
		plan_all(&p);
	topology_free(&p.topo);
	sysroot_names_free(p.cards);
	if (profile_has_faults(profile))
		return -EINVAL;
	return rc ? rc : e->status ? -EBUSY : 0;
}
