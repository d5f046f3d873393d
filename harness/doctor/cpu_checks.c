#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/monotonic.h"
#include "common/or_abort.h"
#include "common/sort.h"
#include "common/sysroot.h"
#include "common/units.h"
#include "doctor/check.h"
#include "doctor/cpu_noise.h"
#include "files/state/piece.h"
#include "measure/instrument/noise.h"

/* --- what interrupts a CPU --- */

enum {
	FILE_MAX = 16 << 20,
	SHOWN = 4,
	STEAL_COLUMN = 7, /* man 5 proc_stat */
};

/* The column of a CPU in the heading "CPU0 CPU2 …", or -1. */
static int column_of(struct piece head, int cpu)
{
	char want[16];
	struct piece word;

	snprintf(want, sizeof(want), "CPU%d", cpu);
	for (int i = 0; (word = piece_word(&head)).n; i++)
		if (piece_is(word, want))
			return i;
	return -1;
}

/* The last word of a line of /proc/interrupts is the name of the device or driver; interrupts named
 * by letters do not have one. */
static void disturbance_name(struct piece label, struct piece rest, const char *prefix, char *out, size_t size)
{
	struct piece word, last = {"", 0};
	int64_t number;

	if (piece_int(label, &number))
		while ((word = piece_word(&rest)).n)
			last = word;
	snprintf(out, size, "%s%.*s%s%.*s", prefix, (int)label.n, label.p, last.n ? " " : "",
		 (int)(last.n < 32 ? last.n : 32), last.p);
}

static void add_line(json_t *counts, struct piece line, int column, const char *prefix)
{
	struct piece label = piece_trim(piece_cut(&line, ':'));
	int64_t count, mine = -1;
	char name[80];

	for (int i = 0; i <= column; i++)
		if (!piece_int(piece_word(&line), &mine))
			return;
	for (struct piece next = line; piece_int(piece_word(&next), &count);)
		line = next;
	if (mine <= 0 || label.n > 32)
		return;
	disturbance_name(label, line, prefix, name, sizeof(name));
	json_object_set_new(counts, name, json_integer(mine));
}

static void read_counts(const struct sysroot *root, const char *path, int cpu, const char *prefix, json_t *counts)
{
	struct piece rest, line;
	size_t length;
	char *text;
	int column;

	if (sysroot_read(root, path, FILE_MAX, &text, &length))
		return;
	rest = (struct piece){text, length};
	column = piece_line(&rest, &line) ? column_of(line, cpu) : -1;
	while (column >= 0 && piece_line(&rest, &line))
		add_line(counts, line, column, prefix);
	free(text);
}

static void read_steal(const struct sysroot *root, int cpu, json_t *counts)
{
	struct piece rest, line;
	int64_t ticks = 0;
	char want[16], *text;
	size_t length;

	if (sysroot_read(root, "/proc/stat", FILE_MAX, &text, &length))
		return;
	snprintf(want, sizeof(want), "cpu%d", cpu);
	rest = (struct piece){text, length};
	while (piece_line(&rest, &line)) {
		if (!piece_is(piece_word(&line), want))
			continue;
		for (int i = 0; i <= STEAL_COLUMN; i++)
			if (!piece_int(piece_word(&line), &ticks))
				ticks = 0;
		json_object_set_new(counts, "steal ticks", json_integer(ticks));
	}
	free(text);
}

json_t *disturbances_read(const struct sysroot *root, int cpu)
{
	json_t *counts = json_object();

	read_counts(root, "/proc/interrupts", cpu, "", counts);
	read_counts(root, "/proc/softirqs", cpu, "softirq ", counts);
	read_steal(root, cpu, counts);
	return counts;
}

struct grown {
	const char *name;
	json_int_t by;
};

static int compare_grown(const void *a, const void *b)
{
	const struct grown *x = a, *y = b;

	return x->by != y->by ? (x->by < y->by) - (x->by > y->by) : strcmp(x->name, y->name);
}

json_t *disturbances_between(const json_t *before, const json_t *after)
{
	struct grown *all = or_abort(calloc(json_object_size(after) + 1, sizeof(*all)));
	json_t *result = json_object(), *value;
	const char *name;
	size_t count = 0;

	json_object_foreach ((json_t *)after, name, value) {
		json_int_t by = json_integer_value(value) - json_integer_value(json_object_get(before, name));

		if (all && by > 0)
			all[count++] = (struct grown){name, by};
	}
	if (count)
		qsort(all, count, sizeof(*all), compare_grown);
	for (size_t i = 0; i < count; i++)
		json_object_set_new(result, all[i].name, json_integer(all[i].by));
	free(all);
	return result;
}

char *disturbances_text(const json_t *grown, char *buf, size_t size)
{
	size_t used = 0, shown = 0;
	const char *name;
	json_t *by;

	snprintf(buf, size, "nothing that the kernel counts");
	json_object_foreach ((json_t *)grown, name, by)
		if (shown++ < SHOWN && used < size)
			used += (size_t)snprintf(buf + used, size - used, "%s%lld %s", used ? ", " : "",
						 (long long)json_integer_value(by), name);
	return buf;
}

/* --- what takes time from the CPUs, by events of the kernel --- */

#define SHOWN 3 /* causes shown per CPU */

static struct cpulist noise_causes_cpus(const json_t *list)
{
	struct cpulist cpus;
	const json_t *one;
	size_t i;

	cpulist_clear(&cpus);
	json_array_foreach (list, i, one) {
		const json_int_t cpu = json_integer_value(json_object_get(one, "cpu"));

		if (cpu >= 0)
			cpulist_add(&cpus, (unsigned)cpu);
	}
	return cpus;
}

static void tell_cpu(const struct cpu_noise *n, const struct cpu_noise_cpu *c, struct finding *f)
{
	char time[32], text[CAUSE_TEXT_MAX];

	finding_add(f, "; CPU %d by cause: ", c->cpu);
	for (size_t i = 0; i < c->count && i < SHOWN; i++)
		finding_add(f, "%s%s %s", i ? ", " : "", unit_human_ns(c->causes[i].total_ns, time, sizeof(time)),
			    cause_describe(&n->causes.list[c->causes[i].cause], text, sizeof(text)));
	if (!c->count)
		finding_add(f, "nothing");
}

/* Add to the finding of a check whose data is a list of objects with "cpu": of each "causes", as cpu_noise_causes_json()
 * has them, or null where the kernel may not be traced; and a sentence that names those that had most time. */
static void noise_causes_add(unsigned milliseconds, struct finding *f)
{
	const struct cpulist cpus = noise_causes_cpus(f->data);
	struct cpu_noise n = {.count = 0};
	const bool is_known = cpulist_count(&cpus) && !cpu_noise_watch(&cpus, milliseconds, &n, NULL);
	json_t *one;
	size_t i;

	json_array_foreach (f->data, i, one) {
		json_t *causes = json_null();

		for (size_t k = 0; is_known && k < n.count; k++)
			if (n.cpus[k].cpu == json_integer_value(json_object_get(one, "cpu"))) {
				causes = cpu_noise_causes_json(&n, &n.cpus[k]);
				tell_cpu(&n, &n.cpus[k], f);
			}
		json_object_set_new(one, "causes", causes);
	}
	cpu_noise_free(&n);
}

/* --- the checks --- */

enum {
	SPIN_MS = 200,
	LONGEST_GAP_NS = 50000, /* on a quiet CPU: a timer interrupt takes a few microseconds */
	SKEW_WARN_NS = 1000,
	SKEW_BAD_NS = 10000,
	WAKE_UP_US = 10,  /* maximum time for leaving an idle state */
	SLACK_NS = 50000, /* the kernel's default */
};

#define STAMP_RATIO 1.2	  /* maximum cost of two stamps and two stores, in relation to the stamps alone */
#define LOST_SHARE  0.002 /* maximum share of the time in gaps */
#define BUSY_SHARE  0.1	  /* more than that is what other programs take */

static void check_clock(const struct host *h, struct finding *f)
{
	const struct clock_report *c = &h->clock;

	finding_add(
	    f, "%s at %.3f MHz, %sinvariant, kernel's clocksource %s; within %.1f ns of a straight line, +-%.3f ppm",
	    c->source, c->hz / 1e6, c->invariant ? "" : "not ", c->kernel_source, c->residual_ns, c->drift_ppm);
	f->data = clock_json(c);
	if (!c->good) {
		finding_add(f, "; %s", c->why);
		finding_raise(f, LEVEL_BAD,
			      "times from this counter are meaningless; use a machine with an invariant TSC");
	}
	if (!c->invariant)
		finding_raise(f, LEVEL_WARN,
			      "the counter may follow the CPU's frequency; fix the frequency while measuring");
	if (!strcmp(CLOCK_SOURCE, "tsc") && strcmp(c->kernel_source, "tsc") && strcmp(c->kernel_source, "kvm-clock"))
		finding_raise(
		    f, LEVEL_WARN,
		    "the kernel does not trust the TSC itself (see dmesg); if you do, boot with tsc=reliable");
}

static void check_stamp(const struct host *h, struct finding *f)
{
	const struct clock_report *c = &h->clock;
	double ratio = c->cost_ns > 0 ? c->stamp_ns / c->cost_ns : 0;

	finding_add(f,
		    "a stamp and its store take %.1f ns, %.2f times the %.1f ns of reading the counter (%.1f ns at the "
		    "end of an interval)",
		    c->stamp_ns, ratio, c->cost_ns, c->cost_end_ns);
	f->data = json_pack("{s:f, s:f, s:f, s:f}", "stamp_ns", c->stamp_ns, "bare_ns", c->cost_ns, "bare_end_ns",
			    c->cost_end_ns, "ratio", ratio);
	if (ratio > STAMP_RATIO)
		finding_raise(f, LEVEL_WARN, "stores are slow here: look for other work on this CPU and on its memory");
}

static void check_cpu_choice(const struct host *h, struct finding *f)
{
	char list[256];

	finding_add(f, "%u may be used (%s); source on %d, sink on %d", cpulist_count(&h->allowed),
		    cpulist_format(&h->allowed, list, sizeof(list)), h->source.cpu, h->sink.cpu);
	f->data = json_pack("{s:s, s:i, s:i, s:b, s:b}", "allowed", list, "source", h->source.cpu, "sink", h->sink.cpu,
			    "shared_cpu", h->source.shared_cpu, "shared_core", h->source.shared_smt);
	if (h->source.cpu < 0 || h->source.shared_cpu)
		finding_raise(
		    f, LEVEL_BAD,
		    "busy polling needs two CPUs: widen the mask (taskset, cpuset, container), or use poll=event");
	if (h->source.shared_smt)
		finding_raise(f, LEVEL_WARN,
			      "both are threads of one core: name CPUs of two cores with source_cpu and sink_cpu");
}

static void check_skew(const struct host *h, struct finding *f)
{
	int64_t skew = h->clock.skew_ns;

	f->data = json_pack("{s:o}", "skew_ns", skew < 0 ? json_null() : json_integer(skew));
	if (skew < 0) {
		finding_add(f, "not measured: it needs two CPUs");
		finding_raise(f, LEVEL_WARN, "one-way times need two CPUs whose counters have been compared");
		return;
	}
	finding_add(f, "the counters of CPUs %d and %d differ by at most %lld ns", h->source.cpu, h->sink.cpu,
		    (long long)skew);
	if (skew > SKEW_BAD_NS)
		finding_raise(f, LEVEL_BAD,
			      "one-way times between these CPUs are wrong by that much: choose other CPUs");
	else if (skew > SKEW_WARN_NS)
		finding_raise(
		    f, LEVEL_WARN,
		    "one-way times have this error; it is smaller between CPUs of one socket, or on a quieter machine");
}

static double lost_share(const struct noise *n)
{
	return n->duration_ns > 0 ? (double)n->lost_ns / (double)n->duration_ns : 0;
}

static void tell_noise(const struct noise *n, json_t *grown, struct finding *f)
{
	char longest[32], what[160];

	finding_add(f, "%sCPU %d: ", f->text[0] ? "; " : "", n->cpu);
	if (n->rc)
		finding_add(f, "not measured (%s)", strerror(-n->rc));
	else
		finding_add(f, "%lld gaps over 1 us, longest %s, %.3f %% of the time (%s; preempted %lld times)",
			    (long long)n->gaps, unit_human_ns(n->longest_ns, longest, sizeof(longest)),
			    100 * lost_share(n), disturbances_text(grown, what, sizeof(what)), (long long)n->preempted);
	json_array_append_new(f->data,
			      json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:O}", "cpu", n->cpu, "gaps",
					(json_int_t)n->gaps, "longest_ns", (json_int_t)n->longest_ns, "lost_ns",
					(json_int_t)n->lost_ns, "duration_ns", (json_int_t)n->duration_ns, "preempted",
					(json_int_t)n->preempted, "interrupted_by", grown));
	if (!n->rc && lost_share(n) > BUSY_SHARE)
		finding_raise(f, LEVEL_BAD,
			      "other programs run there, and late messages would be theirs: stop them, or choose other "
			      "CPUs with source_cpu and sink_cpu");
	if (n->rc || n->longest_ns > LONGEST_GAP_NS || lost_share(n) > LOST_SHARE)
		finding_raise(f, LEVEL_WARN,
			      "these gaps appear as outliers: stop other work, or keep it off these CPUs (isolcpus=, "
			      "nohz_full=, IRQ "
			      "affinity, a cpuset)");
}

static void check_noise(const struct host *h, struct finding *f)
{
	struct noise n[2] = {{.cpu = h->source.cpu}, {.cpu = h->sink.cpu}};
	size_t count = h->source.shared_cpu ? 1 : 2;
	json_t *before[2], *after[2];

	for (size_t i = 0; i < count; i++)
		before[i] = disturbances_read(&h->root, n[i].cpu);
	noise_measure(n, count, SPIN_MS, h->clock.hz);
	for (size_t i = 0; i < count; i++)
		after[i] = disturbances_read(&h->root, n[i].cpu);
	f->data = json_array();
	for (size_t i = 0; i < count; i++) {
		json_t *grown = disturbances_between(before[i], after[i]);

		tell_noise(&n[i], grown, f);
		json_decref(grown);
		json_decref(before[i]);
		json_decref(after[i]);
	}
	noise_causes_add(SPIN_MS, f);
}

static void check_frequency(const struct host *h, struct finding *f)
{
	char path[128], governor[32], driver[32];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", h->source.cpu);
	if (sysroot_line(&h->root, path, governor, sizeof(governor))) {
		finding_add(f, "the kernel does not change it");
		f->data = json_pack("{s:n}", "governor");
		return;
	}
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_driver", h->source.cpu);
	if (sysroot_line(&h->root, path, driver, sizeof(driver)))
		snprintf(driver, sizeof(driver), "unknown");
	finding_add(f, "governor %s, driver %s", governor, driver);
	f->data = json_pack("{s:s, s:s}", "governor", governor, "driver", driver);
	if (strcmp(governor, "performance"))
		finding_raise(f, LEVEL_WARN,
			      "choose the governor 'performance': cpupower frequency-set -g performance");
}

/* The latency that PM QoS allows, in us; -1 if it cannot be read. */
static int64_t allowed_latency(const struct host *h)
{
	int32_t value = -1;
	size_t length;
	char *text;

	if (sysroot_read(&h->root, "/dev/cpu_dma_latency", 64, &text, &length))
		return -1;
	if (length == sizeof(value))
		memcpy(&value, text, sizeof(value));
	free(text);
	return value;
}

/* The slowest idle state that a CPU may enter: enabled, and within what PM QoS allows (-1: unknown,
 * so no limit). */
static int64_t deepest_state(const struct host *h, int cpu, int64_t limit, char *name, size_t size)
{
	int64_t worst = -1;

	for (int i = 0; i < 16; i++) {
		char path[128];
		int64_t latency, disabled;

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/latency", cpu, i);
		if (sysroot_int(&h->root, path, &latency))
			break;
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/disable", cpu, i);
		if ((!sysroot_int(&h->root, path, &disabled) && disabled) || (limit >= 0 && latency > limit) ||
		    latency <= worst)
			continue;
		worst = latency;
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/name", cpu, i);
		if (sysroot_line(&h->root, path, name, size))
			snprintf(name, size, "state%d", i);
	}
	return worst;
}

static void check_idle(const struct host *h, struct finding *f)
{
	char name[32] = "", governor[32];
	int64_t limit = allowed_latency(h), worst = deepest_state(h, h->source.cpu, limit, name, sizeof(name));

	if (sysroot_line(&h->root, "/sys/devices/system/cpu/cpuidle/current_governor", governor, sizeof(governor)))
		snprintf(governor, sizeof(governor), "none");
	if (worst < 0)
		finding_add(f, "the kernel has no idle states");
	else
		finding_add(f, "governor %s, deepest state in use %s, %lld us to leave it", governor, name,
			    (long long)worst);
	if (limit < 0)
		finding_add(f, "; PM QoS: cannot be read");
	else
		finding_add(f, "; PM QoS: %s", limit >= 2000000000 ? "no limit" : "");
	if (limit >= 0 && limit < 2000000000)
		finding_add(f, "at most %lld us", (long long)limit);
	f->data = json_pack("{s:s, s:s, s:I, s:o}", "governor", governor, "state", name, "latency_us",
			    (json_int_t)worst, "pm_qos_us", limit < 0 ? json_null() : json_integer(limit));
	if (worst > WAKE_UP_US)
		finding_raise(f, LEVEL_WARN,
			      "latencies with poll=event include the wake-up from this state: hold "
			      "/dev/cpu_dma_latency at a low value");
}

/* --- the virtual machine --- */

enum {
	PAGES_ACCESSED = 256,
	FIRST_ACCESS_NS = 2000, /* of a page in the machine's own page tables: a tenth of it */
};

/* How long the first access takes to a page that the kernel has mapped: the median, in nanoseconds; -1: not known. It is long
 * where the hypervisor keeps page tables of its own, to which it adds a page when a process accesses it. */
static int64_t first_access_ns(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = PAGES_ACCESSED * page;
	int64_t took[PAGES_ACCESSED];
	volatile char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (p == MAP_FAILED)
		return -1;
	for (size_t i = 0; i < PAGES_ACCESSED; i++) {
		const int64_t before = monotonic_ns();

		p[i * page] = 1;
		took[i] = monotonic_ns() - before;
	}
	munmap((void *)p, size);
	sort_integers(took, PAGES_ACCESSED);
	return took[PAGES_ACCESSED / 2];
}

static void check_virtual(const struct host *h, struct finding *f)
{
	char *text = NULL, first[32];
	size_t length;
	const bool is_virtual =
	    !sysroot_read(&h->root, "/proc/cpuinfo", FILE_MAX, &text, &length) && strstr(text, " hypervisor");
	const int64_t access_ns = first_access_ns();

	free(text);
	finding_add(f, is_virtual ? "yes" : "no");
	f->data = json_pack("{s:b, s:o}", "virtual", is_virtual, "first_access_ns",
			    access_ns < 0 ? json_null() : json_integer(access_ns));
	if (is_virtual && access_ns > FIRST_ACCESS_NS) {
		finding_add(f, "; the first access to each page takes %s",
			    unit_human_ns(access_ns, first, sizeof(first)));
		finding_raise(f, LEVEL_WARN,
			      "the hypervisor takes CPUs away, and adds pages to a process as it accesses them, both "
			      "unnoticed: compare ratios, do not quote absolute latencies, and let `warmup` go round "
			      "all buffers");
	} else if (is_virtual) {
		finding_raise(f, LEVEL_WARN,
			      "the hypervisor takes CPUs away unnoticed: compare ratios, do not quote absolute "
			      "latencies");
	}
}

static void check_slack(const struct host *h, struct finding *f)
{
	int slack = prctl(PR_GET_TIMERSLACK);
	char text[32];

	(void)h;
	finding_add(f, "a sleep may end up to %s late", unit_human_ns(slack, text, sizeof(text)));
	f->data = json_pack("{s:i}", "slack_ns", slack);
	if (slack > SLACK_NS)
		finding_raise(
		    f, LEVEL_WARN,
		    "pauses between bursts become longer: start kblat from a shell with the default of 50 us");
}

const struct check cpu_checks[] = {
    {"clock", check_clock},	  {"stamp", check_stamp},
    {"cpus", check_cpu_choice},	  {"skew", check_skew},
    {"noise", check_noise},	  {"frequency", check_frequency},
    {"idle states", check_idle},  {"virtual machine", check_virtual},
    {"timer slack", check_slack}, {NULL, NULL},
};
