#include "tuning/ops/tuned_effects.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/form.h"
#include "common/fs.h"
#include "tuning/machine/cards.h"
#include "tuning/machine/ethtool.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/tasks.h"
#include "tuning/ops/op_card.h"
#include "tuning/ops/op_file.h"
#include "tuning/steps/plan.h"

#define CPU  "/sys/devices/system/cpu/"
#define CPUS CPU "cpu[0-9]*/"
#define GRUB "/etc/grub.d/00_tuned" /* without it, the plugin does nothing */

/* What an option of a plugin changes. */
enum effect {
	VALUES,	 /* the values in kernel files that match `text`; @ is the option's name */
	FILES,	 /* the file `text` on disk */
	THREADS, /* affinities and policies of threads */
	CARD,	 /* what ethtool sets: see card_groups */
	NOTHING, /* nothing that is there when tuned is not */
	LOST,	 /* what only tuned could undo: `text` is why */
	KEPT,	 /* the same, and it survives a reboot */
};

static const struct row {
	const char *plugin, *option; /* patterns; the rows of the first that match count */
	enum effect effect;
	const char *text;
	const char *when; /* it changes that only if this file is there; or NULL */
} rows[] = {
    {"cpu", "governor", VALUES, CPUS "cpufreq/scaling_governor", NULL},
    {"cpu", "governor", VALUES, CPUS "cpufreq/energy_performance_preference", NULL},
    {"cpu", "energy_perf*", VALUES, CPUS "cpufreq/energy_performance_preference", NULL},
    {"cpu", "energy_perf*", VALUES, CPUS "power/energy_perf_bias", NULL},
    {"cpu", "m*_perf_pct", VALUES, CPU "intel_pstate/@", NULL},
    {"cpu", "no_turbo", VALUES, CPU "intel_pstate/no_turbo", NULL},
    {"cpu", "boost", VALUES, CPU "cpufreq/boost", NULL},
    {"cpu", "boost", VALUES, CPU "cpufreq/policy*/boost", NULL},
    {"cpu", "sampling_down_factor", VALUES, CPU "cpufreq/*/sampling_down_factor", NULL},
    {"cpu", "sampling_down_factor", VALUES, CPUS "cpufreq/*/sampling_down_factor", NULL},
    {"cpu", "pm_qos_resume_latency_us", VALUES, CPUS "power/pm_qos_resume_latency_us", NULL},
    {"cpu", "force_latency", NOTHING, NULL, NULL},
    {"cpu", "load_threshold", NOTHING, NULL, NULL},
    {"cpu", "latency_*", NOTHING, NULL, NULL},
    {"vm", "transparent_hugepage", VALUES, "/sys/kernel/mm/transparent_hugepage/enabled", NULL},
    {"vm", "transparent_hugepages", VALUES, "/sys/kernel/mm/transparent_hugepage/enabled", NULL},
    {"vm", "transparent_hugepage.defrag", VALUES, "/sys/kernel/mm/transparent_hugepage/defrag", NULL},
    {"vm", "dirty_*", VALUES, "/proc/sys/vm/@", NULL},
    {"sysctl", "*", NOTHING, NULL, NULL}, /* in "sysctls" of the answer */
    {"sysfs", "/sys/*", VALUES, "@", NULL},
    {"scheduler", "isolated_cores", THREADS, NULL, NULL},
    {"scheduler", "isolated_cores", VALUES, "/proc/irq/*/smp_affinity", NULL},
    {"scheduler", "isolated_cores", VALUES, "/proc/irq/default_smp_affinity", NULL},
    {"scheduler", "default_irq_smp_affinity", VALUES, "/proc/irq/default_smp_affinity", NULL},
    {"scheduler", "group.*", THREADS, NULL, NULL},
    {"scheduler", "sched_*", VALUES, "/proc/sys/kernel/@", NULL},
    {"scheduler", "sched_*", VALUES, "/sys/kernel/debug/sched/@", NULL},
    {"scheduler", "numa_balancing*", VALUES, "/proc/sys/kernel/@", NULL},
    {"scheduler", "numa_balancing*", VALUES, "/sys/kernel/debug/sched/numa_balancing/@", NULL},
    {"scheduler", "cgroup*_ps_blacklist", NOTHING, NULL, NULL},
    {"scheduler", "cgroup*", LOST, "control groups that it makes, and programs that it moves to them", NULL},
    {"scheduler", "ps_*", NOTHING, NULL, NULL},
    {"scheduler", "perf_*", NOTHING, NULL, NULL},
    {"scheduler", "*_process", NOTHING, NULL, NULL},
    {"scheduler", "runtime", NOTHING, NULL, NULL},
    {"irq", "*", VALUES, "/proc/irq/*/smp_affinity", NULL},
    {"irq", "*", VALUES, "/proc/irq/default_smp_affinity", NULL},
    {"disk", "elevator", VALUES, "/sys/block/*/queue/scheduler", NULL},
    {"disk", "readahead*", VALUES, "/sys/block/*/queue/read_ahead_kb", NULL},
    {"disk", "scheduler_quantum", VALUES, "/sys/block/*/queue/iosched/quantum", NULL},
    {"disk", "dynamic", NOTHING, NULL, NULL},
    {"disk", "*", LOST, "kept by the disks themselves, and cannot be read", "/sys/block/sd*"},
    {"net", "nf_conntrack_hashsize", VALUES, "/sys/module/nf_conntrack/parameters/hashsize", NULL},
    {"net", "txqueuelen", VALUES, "/sys/class/net/*/tx_queue_len", NULL},
    {"net", "mtu", VALUES, "/sys/class/net/*/mtu", NULL},
    {"net", "dynamic", NOTHING, NULL, NULL},
    {"net", "features", CARD, NULL, NULL},
    {"net", "coalesce", CARD, NULL, NULL},
    {"net", "ring", CARD, NULL, NULL},
    {"net", "channels", CARD, NULL, NULL},
    {"net", "*", LOST, "a setting of network cards that kbtune does not record", CARDS "/*/device"},
    {"audio", "timeout", VALUES, "/sys/module/snd_*/parameters/power_save", NULL},
    {"audio", "reset_controller", VALUES, "/sys/module/snd_*/parameters/power_save_controller", NULL},
    {"usb", "autosuspend", VALUES, "/sys/bus/usb/devices/*/power/autosuspend", NULL},
    {"scsi_host", "alpm", VALUES, "/sys/class/scsi_host/*/link_power_management_policy", NULL},
    {"video", "radeon_powersave", VALUES, "/sys/class/drm/card*/device/power_*", NULL},
    {"video", "panel_power_savings", VALUES, "/sys/class/drm/*/amdgpu/panel_power_savings", NULL},
    {"acpi", "platform_profile", VALUES, "/sys/firmware/acpi/platform_profile", NULL},
    {"selinux", "avc_cache_threshold", VALUES, "/sys/fs/selinux/avc/cache_threshold", NULL},
    {"eeepc_she", "*", VALUES, "/sys/devices/platform/eeepc/cpufv", NULL},
    {"uncore", "*", VALUES, CPU "intel_uncore_frequency/*/*_freq_khz", NULL},
    {"rtentsk", "*", NOTHING, NULL, NULL},
    {"systemd", "cpu_affinity", FILES, "/etc/systemd/system.conf", "/etc/systemd/system.conf"},
    {"systemd", "cpu_affinity", FILES, "/var/lib/tuned/systemd", "/etc/systemd/system.conf"},
    {"bootloader", "cmdline*", FILES, "/etc/tuned/bootcmdline", GRUB},
    {"bootloader", "cmdline*", FILES, "/boot/grub/grub.cfg", "/boot/grub/grub.cfg"},
    {"bootloader", "cmdline*", FILES, "/boot/grub2/grub.cfg", "/boot/grub2/grub.cfg"},
    {"bootloader", "cmdline*", FILES, "/etc/default/grub", "/etc/default/grub"},
    {"bootloader", "cmdline*", KEPT, "entries of the boot loader and /boot/grub*/grubenv", "/boot/loader/entries"},
    {"bootloader", "cmdline*", KEPT, "the kernel's arguments that rpm-ostree has", "/usr/bin/rpm-ostree"},
    {"bootloader", "initrd_add_*", FILES, "/etc/tuned/bootcmdline", GRUB},
    {"bootloader", "initrd_add_*", KEPT, "an initrd image in /boot", GRUB},
    {"bootloader", "grub2_cfg_file", KEPT, "it names another grub.cfg", GRUB},
    {"bootloader", "*", NOTHING, NULL, NULL},
    {"irqbalance", "banned_cpus", FILES, "/etc/default/irqbalance", "/etc/default/irqbalance"},
    {"irqbalance", "banned_cpus", FILES, "/etc/sysconfig/irqbalance", "/etc/sysconfig/irqbalance"},
    {"modules", "*", FILES, "/etc/modprobe.d/tuned.conf", NULL},
    {"modules", "*", LOST, "kernel modules that it loads, or loads anew, stay as they are", NULL},
    {"mounts", "*", LOST, "options of mounted file systems", NULL},
    {"service", "*", KEPT, "whether the service runs, and starts with the system", NULL},
    {"script", "script", NOTHING, NULL, NULL}, /* each of them is stated by its path */
    {"*", "devices*", NOTHING, NULL, NULL},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

struct option {
	const char *plugin, *name, *value;
};

/* Call `visit` for each row of each option; `row` is NULL for an option that no row knows. */
static void each_effect(const json_t *resolved, void (*visit)(const struct option *o, const struct row *row, void *),
			void *context)
{
	const json_t *units = json_object_get(resolved, "units"), *unit, *pair;
	size_t i, k;

	json_array_foreach (units, i, unit) {
		struct option o = {.plugin = json_string_value(json_object_get(unit, "type"))};

		json_array_foreach (json_object_get(unit, "options"), k, pair) {
			const struct row *last = NULL;

			o.name = json_string_value(json_array_get(pair, 0));
			o.value = json_string_value(json_array_get(pair, 1));
			o.value = o.value ? o.value : "";
			for (size_t r = 0; o.plugin && o.name && r < ROWS; r++) {
				if (fnmatch(rows[r].plugin, o.plugin, 0) || fnmatch(rows[r].option, o.name, 0))
					continue;
				/* More general rows are for other options. */
				if (last && strcmp(last->option, rows[r].option))
					break;
				last = &rows[r];
				visit(&o, last, context);
			}
			if (!last && o.plugin && o.name)
				visit(&o, NULL, context);
		}
	}
}

static bool exists(const struct machine *m, const char *pattern)
{
	char **paths;
	int n = sysroot_glob(&m->root, pattern, &paths);

	if (n >= 0)
		sysroot_names_free(paths);
	return n > 0;
}

static bool applies(const struct machine *m, const struct row *row)
{
	return !row->when || exists(m, row->when);
}

/* --- values --- */

struct gathering {
	const struct machine *m;
	json_t *list;
};

static bool has_path(const json_t *list, const char *path)
{
	const json_t *one;
	size_t i;

	json_array_foreach (list, i, one)
		if (!strcmp(json_string_value(json_object_get(one, "path")), path))
			return true;
	return false;
}

static void guard_file(struct gathering *g, const char *path, const char *want)
{
	char *text;
	json_t *raw, *guard;

	if (has_path(g->list, path) || machine_read(g->m, path, &text))
		return;
	raw = json_string(text);
	if (raw) {
		guard = json_pack("{s:s, s:s, s:o, s:s}", "path", path, "form", form_name(form_of_file(path, text)),
				  "raw", raw, "want", want);
		op_file_note_beside(g->m, path, guard);
		json_array_append_new(g->list, guard);
	}
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

/* Options of the scheduler are called sched_NAME in /proc/sys/kernel, NAME in debugfs. */
static void guard_named(struct gathering *g, const char *pattern, const struct option *o)
{
	const char *at = strchr(pattern, '@'), *name = o->name;
	char *path;

	if (!at) {
		guard_glob(g, pattern, o->value);
		return;
	}
	if (strstr(pattern, "/sched/@") && !strncmp(name, "sched_", 6))
		name += 6;
	if (strstr(pattern, "numa_balancing/@") && !strncmp(name, "numa_balancing_", 15))
		name += 15;
	path = fs_path("%.*s%s%s", (int)(at - pattern), pattern, name, at + 1);
	if (!strstr(path, ".."))
		guard_glob(g, path, o->value);
	free(path);
}

static void guard_option(const struct option *o, const struct row *row, void *context)
{
	struct gathering *g = context;

	if (row && row->effect == VALUES && applies(g->m, row))
		guard_named(g, row->text, o);
}

json_t *tuned_effects_guards(const struct machine *m, const json_t *resolved)
{
	struct gathering g = {.m = m, .list = json_array()};
	const json_t *pair;
	size_t i;

	json_array_foreach (json_object_get(resolved, "sysctls"), i, pair) {
		const char *path = json_string_value(json_array_get(pair, 0));
		const char *want = json_string_value(json_array_get(pair, 1));

		if (path && want && !strncmp(path, "/proc/sys/", 10) && !strstr(path, ".."))
			guard_file(&g, path, want);
	}
	each_effect(resolved, guard_option, &g);
	return g.list;
}

/* --- files --- */

static void gather_files(const struct option *o, const struct row *row, void *context)
{
	struct gathering *g = context;
	const json_t *one;
	size_t i;

	(void)o;
	if (!row || row->effect != FILES || !applies(g->m, row))
		return;
	json_array_foreach (g->list, i, one)
		if (!strcmp(json_string_value(one), row->text))
			return;
	json_array_append_new(g->list, json_string(row->text));
}

json_t *tuned_effects_files(const struct machine *m, const json_t *resolved)
{
	struct gathering g = {.m = m, .list = json_array()};

	each_effect(resolved, gather_files, &g);
	return g.list;
}

/* --- what is kept by steps of their own --- */

struct keeping {
	json_t *threads;
};

static int keep_thread(const struct thread *t, void *context)
{
	struct keeping *k = context;
	char cpus[CPULIST_TEXT_MAX];

	json_array_append_new(k->threads,
			      json_pack("{s:i, s:I, s:s, s:s, s:i, s:i}", "tid", t->tid, "start", (json_int_t)t->start,
					"name", t->name, "cpus", cpulist_format(&t->cpus, cpus, sizeof(cpus)), "policy",
					t->policy, "priority", t->priority));
	return 0;
}

/* A step that changes nothing, and undone gives threads back what tuned takes from them. */
static void plan_threads(struct plan *plan, const struct machine *m, const char *knob)
{
	struct keeping k = {.threads = json_array()};

	tasks_each(m, keep_thread, &k);
	plan_step(plan, knob, &op_affinity, "threads", "where they may run", "as tuned makes it",
		  json_pack("{s:s, s:s, s:o, s:b, s:b, s:b, s:b, s:[]}", "off", "", "housekeeping", "", "threads",
			    k.threads, "kernel", 0, "programs", 0, "again", 0, "last", 0, "shields"));
}

static void keep_masks(struct plan *plan, const struct machine *m, const char *knob, const char *card)
{
	char *pattern = fs_path(CARDS "/%s/queues/*/[rx]ps_cpus", card), **paths;
	int n = sysroot_glob(&m->root, pattern, &paths);

	for (int i = 0; i < n; i++)
		op_file_plan_to_keep(plan, m, knob, paths[i], FORM_MASK);
	if (n >= 0)
		sysroot_names_free(paths);
	free(pattern);
}

/* Which settings of cards it changes, by the group's number. */
struct found {
	bool threads, groups[4];
};

/* As they are kept: channels are put back first, and take along in many drivers what comes before them here. */
static const struct {
	const char *option;
	const struct ethtool_group *group;
} card_groups[] = {{"features", &ethtool_offloads},
		   {"coalesce", &ethtool_coalesce},
		   {"ring", &ethtool_rings},
		   {"channels", &ethtool_channels}};

static void find_kept(const struct option *o, const struct row *row, void *context)
{
	struct found *f = context;

	f->threads |= row && row->effect == THREADS;
	for (size_t i = 0; row && row->effect == CARD && i < 4; i++)
		f->groups[i] |= !strcmp(card_groups[i].option, o->name);
}

static void plan_card(struct plan *plan, const struct machine *m, const char *knob, const char *card,
		      const struct found *f)
{
	const bool resets = f->groups[2] || f->groups[3];

	if (resets)
		keep_masks(plan, m, knob, card);
	for (size_t i = 0; i < 4; i++)
		if (f->groups[i] || (resets && i > 0))
			op_card_plan_to_keep(plan, m, knob, card, card_groups[i].group);
}

void tuned_effects_plan(struct plan *plan, const struct machine *m, const char *knob, const json_t *resolved)
{
	struct found f = {false};
	char **cards;

	each_effect(resolved, find_kept, &f);
	if (f.threads)
		plan_threads(plan, m, knob);
	cards = f.groups[0] || f.groups[1] || f.groups[2] || f.groups[3] ? cards_list(m) : NULL;
	for (char **card = cards; card && *card; card++)
		plan_card(plan, m, knob, *card, &f);
	if (cards)
		sysroot_names_free(cards);
}

/* --- what cannot be undone --- */

struct statement {
	const struct machine *m;
	struct step *s;
};

static void state_option(const struct option *o, const struct row *row, void *context)
{
	const struct statement *st = context;
	char *object = fs_path("[%s] %s", o->plugin, o->name);
	const char *loss = NULL;

	if (row && !applies(st->m, row))
		loss = NULL;
	else if (!row)
		step_cannot_undo(st->s, false, object, "kbtune does not know what it changes: only tuned can undo it");
	else if (row->effect == LOST || row->effect == KEPT)
		step_cannot_undo(st->s, row->effect == KEPT, object, "%s: only tuned can undo it", row->text);
	else if (row->effect == VALUES && !strcmp(o->plugin, "sysfs"))
		loss = op_file_loss(o->name, o->value);
	if (loss)
		step_cannot_undo(st->s, false, o->name, "%s", loss);
	free(object);
}

static void state_scripts(const json_t *paths, struct step *s)
{
	const json_t *one;
	size_t i;

	json_array_foreach (paths, i, one)
		step_cannot_undo(s, false, json_string_value(one),
				 "a script, and what it changes is not known: only its own 'stop' can undo it");
}

static void state_unit(const struct machine *m, const json_t *unit, bool dynamic, struct step *s)
{
	const char *type = json_string_value(json_object_get(unit, "type"));
	const json_t *pair;
	size_t i;

	state_scripts(json_object_get(unit, "scripts"), s);
	json_array_foreach (json_object_get(unit, "options"), i, pair)
		state_scripts(json_array_get(pair, 1), s);
	if (type && !strcmp(type, "disk") && dynamic && exists(m, "/sys/block/sd*"))
		step_cannot_undo(s, false, "[disk]",
				 "tuned changes the power management of disks by their load, and it cannot be read: "
				 "only tuned can undo it");
	if (type && !strcmp(type, "irqbalance") && tasks_find(m, "irqbalance"))
		step_cannot_undo(s, false, "irqbalance",
				 "it is started anew with other banned CPUs: only tuned starts it again without them");
}

static void state_sysctls(const json_t *resolved, struct step *s)
{
	const json_t *pair;
	size_t i;

	json_array_foreach (json_object_get(resolved, "sysctls"), i, pair) {
		const char *path = json_string_value(json_array_get(pair, 0));
		const char *want = json_string_value(json_array_get(pair, 1));
		const char *loss = path && want ? op_file_loss(path, want) : NULL;

		if (loss)
			step_cannot_undo(s, false, path, "%s", loss);
	}
}

void tuned_effects_state(const struct machine *m, const json_t *resolved, struct step *s)
{
	const struct statement st = {.m = m, .s = s};
	const bool dynamic = json_is_true(json_object_get(resolved, "dynamic"));
	const json_t *one;
	size_t i;

	each_effect(resolved, state_option, (void *)&st);
	state_sysctls(resolved, s);
	json_array_foreach (json_object_get(resolved, "units"), i, one)
		state_unit(m, one, dynamic, s);
	json_array_foreach (json_object_get(resolved, "blocked"), i, one)
		step_cannot_undo(s, false, json_string_value(one),
				 "the profile runs this program to get a value, and planning does not run it");
}
