#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/text.h"
#include "common/units.h"
#include "tuning/knobs/knob.h"
#include "tuning/knobs/values.h"
#include "tuning/machine/machine.h"
#include "tuning/ops/op_file.h"

#define CPU	"/sys/devices/system/cpu"
#define CPUFREQ CPU "/cpu%d/cpufreq"
#define ON_OFF                                                                                                         \
	{                                                                                                              \
		{"on", "1"},                                                                                           \
		{                                                                                                      \
			"off", "0"                                                                                     \
		}                                                                                                      \
	}

#define NO_CPUFREQ "there is no cpufreq driver here (a virtual machine, or the firmware keeps it for itself)"

const struct value_row values_workqueues = {.paths = {"/sys/devices/virtual/workqueue/cpumask"},
					    .kind = VALUE_PLACE,
					    .form = FORM_MASK,
					    .absent = "this kernel's work queues have no mask"};
const struct value_row values_watchdog_cpus = {.paths = {"/proc/sys/kernel/watchdog_cpumask"},
					       .kind = VALUE_PLACE,
					       .form = FORM_LIST,
					       .absent = "this kernel has no lockup watchdog"};
const struct value_row values_watchdog = {
    .paths = {"/proc/sys/kernel/watchdog"}, .words = ON_OFF, .absent = "this kernel has no lockup watchdog"};
const struct value_row values_nmi = {
    .paths = {"/proc/sys/kernel/nmi_watchdog"}, .words = ON_OFF, .absent = "this kernel has no hard lockup watchdog"};
const struct value_row values_timer_migration = {
    .paths = {"/proc/sys/kernel/timer_migration"}, .words = ON_OFF, .absent = "this kernel does not migrate timers"};
const struct value_row values_numa_balancing = {
    .paths = {"/proc/sys/kernel/numa_balancing"}, .words = ON_OFF, .absent = "this kernel has no NUMA balancing"};
const struct value_row values_stat_interval = {.paths = {"/proc/sys/vm/stat_interval"},
					       .kind = VALUE_NUMBER,
					       .min = 1,
					       .max = 86400,
					       .absent = "this kernel has no such setting"};
const struct value_row values_rt_runtime = {.paths = {"/proc/sys/kernel/sched_rt_runtime_us"},
					    .kind = VALUE_NUMBER,
					    .words = {{"unlimited", "-1"}},
					    .max = 1000000,
					    .absent = "this kernel does not limit real-time threads"};
const struct value_row values_thp = {.paths = {"/sys/kernel/mm/transparent_hugepage/enabled"},
				     .form = FORM_CHOICE,
				     .any_word = true,
				     .absent = "this kernel has no transparent huge pages"};
const struct value_row values_thp_defrag = {.paths = {"/sys/kernel/mm/transparent_hugepage/defrag"},
					    .form = FORM_CHOICE,
					    .any_word = true,
					    .absent = "this kernel has no transparent huge pages"};
const struct value_row values_ksm = {
    .paths = {"/sys/kernel/mm/ksm/run"}, .words = ON_OFF, .absent = "this kernel does not merge same pages"};
const struct value_row values_aspm = {.paths = {"/sys/module/pcie_aspm/parameters/policy"},
				      .form = FORM_CHOICE,
				      .any_word = true,
				      .may_refuse = true,
				      .absent = "this kernel does not manage PCIe link power"};
const struct value_row values_turbo = {.paths = {CPU "/intel_pstate/no_turbo", CPU "/cpufreq/boost", CPUFREQ "/boost"},
				       .words = ON_OFF,
				       .inverted = {true},
				       .may_refuse = true,
				       .absent = "nothing here switches turbo (no intel_pstate, no cpufreq boost)"};
const struct value_row values_epb = {.paths = {CPU "/cpu%d/power/energy_perf_bias"},
				     .kind = VALUE_NUMBER,
				     .words = {{"performance", "0"},
					       {"balance-performance", "4"},
					       {"normal", "6"},
					       {"balance-power", "8"},
					       {"power", "15"}},
				     .max = 15,
				     .may_refuse = true,
				     .absent = "this CPU has no energy performance bias"};
const struct value_row values_epp = {.paths = {CPUFREQ "/energy_performance_preference"},
				     .any_word = true,
				     .offers = "energy_performance_available_preferences",
				     .absent =
					 "no energy performance preference here (intel_pstate or amd_pstate, active)"};
const struct value_row values_governor = {.paths = {CPUFREQ "/scaling_governor"},
					  .any_word = true,
					  .offers = "scaling_available_governors",
					  .absent = NO_CPUFREQ};
const struct value_row values_max_frequency = {.paths = {CPUFREQ "/scaling_max_freq"},
					       .kind = VALUE_FREQUENCY,
					       .words = {{"max", "@cpuinfo_max_freq"}, {"min", "@cpuinfo_min_freq"}},
					       .absent = NO_CPUFREQ};
const struct value_row values_min_frequency = {.paths = {CPUFREQ "/scaling_min_freq"},
					       .kind = VALUE_FREQUENCY,
					       .words = {{"max", "@cpuinfo_max_freq"}, {"min", "@cpuinfo_min_freq"}},
					       .absent = NO_CPUFREQ};
/* The kernel's own words are odd: 0 is no restriction, "n/a" is no latency at all. */
const struct value_row values_cpu_latency = {.paths = {CPU "/cpu%d/power/pm_qos_resume_latency_us"},
					     .kind = VALUE_NUMBER,
					     .words = {{"any", "0"}, {"none", "n/a"}, {"0", "n/a"}},
					     .min = 1,
					     .max = 1999999999,
					     .absent = "this kernel has no per-CPU PM QoS"};
const struct value_row values_smt = {.paths = {CPU "/smt/control"},
				     .words = {{"on", "on"}, {"off", "off"}},
				     .may_refuse = true,
				     .absent = "this kernel does not switch SMT"};

/* One value on its way from the profile to a file. */
struct value {
	struct planner *p;
	const struct setting *s;
	const struct knob *k;
	const struct value_row *row;
	const struct ynode *node; /* what the profile says */
};

static char *row_words(const struct value_row *row, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < 8 && row->words[i].word && used < size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? ", " : "", row->words[i].word);
	return buf;
}

static void fault(const struct value *v)
{
	char words[200], quoted[TEXT_QUOTE_MAX], range[80] = "";

	row_words(v->row, words, sizeof(words));
	if (v->row->kind == VALUE_NUMBER)
		snprintf(range, sizeof(range), "a number from %ld to %ld%s", v->row->min, v->row->max,
			 *words ? ", or " : "");
	if (v->row->kind == VALUE_FREQUENCY)
		snprintf(range, sizeof(range), "a frequency such as 2400MHz, or ");
	profile_fault(v->s, v->node, "'%s' wants %s%s, not %s", v->s->key, range, words,
		      v->node->kind == YNODE_SCALAR ? text_quote(v->node->scalar, quoted, sizeof(quoted))
						    : "a list or a mapping");
}

static const char *find_word(const struct value_row *row, const char *word)
{
	for (size_t i = 0; i < 8 && row->words[i].word; i++)
		if (!strcmp(row->words[i].word, word))
			return row->words[i].written;
	return NULL;
}

/* A file beside another. The caller frees. */
static char *beside(const char *path, const char *name)
{
	return fs_path("%.*s/%s", (int)(strrchr(path, '/') - path), path, name);
}

static bool take_number(const struct value *v, char *out, size_t size)
{
	int64_t n;

	if (unit_read(UNIT_ONE, v->node->scalar, &n) != UNIT_FINE || n < v->row->min || n > v->row->max)
		return false;
	snprintf(out, size, "%lld", (long long)n);
	return true;
}

static bool take_frequency(const struct value *v, char *out, size_t size)
{
	int64_t hz;

	if (unit_read(UNIT_RATE_HZ, v->node->scalar, &hz) != UNIT_FINE || hz < 1000)
		return false;
	snprintf(out, size, "%lld", (long long)hz / 1000);
	return true;
}

static bool take_place(const struct value *v, char *out, size_t size)
{
	struct cpulist cpus;
	char why[300];
	int rc = place_resolve(v->p, v->s, v->node, &cpus, why, sizeof(why));

	if (rc == -ENODEV)
		plan_missing(v->p->plan, v->k->key, "placement", "%s", why);
	if (rc)
		return false;
	if (v->row->form == FORM_MASK)
		cpulist_format_mask(&cpus, out, size);
	else
		cpulist_format(&cpus, out, size);
	return true;
}

/* What to write, the same for all files but for an "@name". False: a fault or a reason why not has been noted. */
static bool take_value(const struct value *v, char *out, size_t size)
{
	const char *word = v->node->kind == YNODE_SCALAR ? find_word(v->row, v->node->scalar) : NULL;

	if (v->row->kind == VALUE_PLACE)
		return take_place(v, out, size);
	if (word) {
		snprintf(out, size, "%s", word);
		return true;
	}
	if (v->node->kind == YNODE_SCALAR && *v->node->scalar) {
		if (v->row->any_word && strlen(v->node->scalar) < 64 && !strpbrk(v->node->scalar, " \t\n")) {
			snprintf(out, size, "%s", v->node->scalar);
			return true;
		}
		if (v->row->kind == VALUE_NUMBER && take_number(v, out, size))
			return true;
		if (v->row->kind == VALUE_FREQUENCY && take_frequency(v, out, size))
			return true;
	}
	fault(v);
	return false;
}

static bool is_offered(const struct value *v, const char *path, const char *value)
{
	char *list, *line;
	bool offered = true;

	if (!v->row->offers)
		return true;
	list = beside(path, v->row->offers);
	if (!machine_read(v->p->m, list, &line)) {
		offered = form_offers(FORM_CHOICE, line, value);
		if (!offered)
			plan_missing(v->p->plan, v->k->key, path, "'%s' is not among what it offers: %.*s", value,
				     (int)strcspn(line, "\n"), line);
		free(line);
	}
	free(list);
	return offered;
}

/* One file: 0, or -ENOENT if it is not there. */
static int plan_file(const struct value *v, const char *path, const char *value, bool inverted)
{
	char fetched[64];

	if (*value == '@') {
		char *source = beside(path, value + 1);
		int rc = sysroot_line(&v->p->m->root, source, fetched, sizeof(fetched));

		free(source);
		if (rc)
			return -ENOENT;
		value = fetched;
	}
	if (inverted)
		value = *value == '1' ? "0" : "1";
	if (is_offered(v, path, value) &&
	    !op_file_plan(v->p->plan, v->p->m, v->k->key, path, v->row->form, value, v->row->absent) &&
	    v->row->may_refuse)
		json_object_set_new(v->p->plan->steps[v->p->plan->step_count - 1].data, "may_refuse", json_true());
	return 0;
}

static const char *first_path(const struct value *v, const struct cpulist *cpus, bool *inverted)
{
	for (size_t i = 0; i < 4 && v->row->paths[i]; i++) {
		char path[256];
		bool there;

		/* The format is a row's own; there is at most one number in it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(path, sizeof(path), v->row->paths[i], cpulist_first(cpus));
#pragma GCC diagnostic pop
		there = sysroot_exists(&v->p->m->root, path);
		if (there) {
			*inverted = v->row->inverted[i];
			return v->row->paths[i];
		}
	}
	return NULL;
}

static void plan_on(const struct value *v, const struct cpulist *cpus)
{
	char value[FORM_VALUE_MAX];
	bool inverted = false;
	const char *pattern;

	if (!take_value(v, value, sizeof(value)))
		return;
	pattern = first_path(v, cpus, &inverted);
	if (!pattern) {
		plan_missing(v->p->plan, v->k->key, v->node->kind == YNODE_SCALAR ? v->node->scalar : "placement", "%s",
			     v->row->absent);
		return;
	}
	for (int cpu = cpulist_first(cpus); cpu >= 0; cpu = cpulist_next(cpus, cpu)) {
		char path[256];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(path, sizeof(path), pattern, cpu);
#pragma GCC diagnostic pop
		plan_file(v, path, value, inverted);
		if (!strstr(pattern, "%d"))
			break;
	}
}

/* {cpus: PLACE, value: X} */
static void plan_some(struct value *v, const struct ynode *one)
{
	static const char *const keys[] = {"cpus", "value", NULL};
	const struct ynode *place = yaml_get(one, "cpus");
	struct cpulist cpus;
	char why[300];
	int rc;

	setting_check_keys(v->s, one, keys);
	v->node = yaml_get(one, "value");
	if (!place || !v->node) {
		profile_fault(v->s, one, "wants {cpus: PLACE, value: ...}");
		return;
	}
	rc = place_resolve(v->p, v->s, place, &cpus, why, sizeof(why));
	if (rc == -ENODEV)
		plan_missing(v->p->plan, v->k->key, "placement", "%s", why);
	if (!rc && cpulist_first(&cpus) >= 0)
		plan_on(v, &cpus);
}

void plan_values(struct planner *p, const struct setting *s, const struct knob *k)
{
	struct value v = {.p = p, .s = s, .k = k, .row = k->row, .node = s->value};
	bool per_cpu = strstr(v.row->paths[0], "%d") != NULL;

	if (!per_cpu || s->value->kind == YNODE_SCALAR) {
		plan_on(&v, &p->topo.online);
	} else if (s->value->kind == YNODE_MAPPING) {
		plan_some(&v, s->value);
	} else {
		for (size_t i = 0; i < s->value->count; i++)
			plan_some(&v, s->value->items[i]);
	}
}
