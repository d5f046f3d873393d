#include "doctor/cpu_noise.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/err.h"
#include "common/or_abort.h"
#include "judge/analysis/cause.h"
#include "judge/analysis/timeline_build.h"
#include "measure/instrument/gap_log.h"
#include "measure/instrument/noise.h"
#include "measure/instrument/pinned.h"
#include "measure/trace/trace.h"

#define CALIBRATION_MS 20
#define BUFFER_BYTES   (4u << 20) /* per CPU */

/* --- one spinning thread --- */

struct watcher {
	int cpu;
	pthread_t thread;
	bool runs;
	_Atomic pid_t tid;
	int64_t ticks; /* how long to watch */
	int64_t first, last;
	struct gap_log gap_log;
	struct stolen stolen;
};

static void *watcher_run(void *arg)
{
	struct watcher *w = arg;

	atomic_store(&w->tid, gettid());
	w->first = clock_ticks_now();
	gap_log_look(&w->gap_log);
	while (w->gap_log.last - w->first < w->ticks)
		gap_log_look(&w->gap_log);
	w->last = w->gap_log.last;
	return NULL;
}

/* All threads that spin at the same time. */
struct watch {
	struct watcher *watchers;
	size_t count;
	struct trace *trace;
	struct clock_conversion conversion;
	struct trace_names names;
	struct trace_words words;
	json_t *about;
};

static int watch_prepare(struct watch *w, const struct cpulist *cpus, unsigned milliseconds, struct err *e)
{
	struct clock_report clock;
	int rc = trace_open(&w->trace, cpus, BUFFER_BYTES, TRACE_SET_ENDPOINT, e);

	if (rc)
		return rc;
	clock_calibrate(CALIBRATION_MS, &clock);
	w->conversion = clock_conversion_from(clock_ticks_begin(), clock.hz > 0 ? clock.hz : 1e9);
	w->watchers = or_abort(calloc(cpulist_count(cpus) + 1, sizeof(*w->watchers)));
	for (int cpu = -1; !rc && (cpu = cpulist_next(cpus, cpu)) >= 0;) {
		struct watcher *one = &w->watchers[w->count++];

		one->cpu = cpu;
		one->ticks = clock_from_ns(&w->conversion, (int64_t)milliseconds * 1000000);
		one->stolen = stolen_read(cpu);
		rc = gap_log_open(&one->gap_log, memory_node_of_cpu(cpu), e);
		gap_log_begin(&one->gap_log, clock_from_ns(&w->conversion, CPU_NOISE_GAP_NS));
	}
	return rc ? rc : trace_start(w->trace, e);
}

static int watch_spin(struct watch *w, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < w->count; i++) {
		rc = pinned_start(&w->watchers[i].thread, w->watchers[i].cpu, watcher_run, &w->watchers[i]);
		w->watchers[i].runs = !rc;
		if (rc)
			err_set(e, rc, STATUS_USAGE, "--cpus", NULL, "CPU %d does not exist, or is not allowed",
				w->watchers[i].cpu);
	}
	for (size_t i = 0; i < w->count; i++)
		if (w->watchers[i].runs)
			pthread_join(w->watchers[i].thread, NULL);
	return rc;
}

static int watch_read(struct watch *w, struct err *e)
{
	pid_t *own = or_abort(calloc(w->count + 1, sizeof(*own)));
	int rc = trace_stop(w->trace, e);

	for (size_t i = 0; i < w->count; i++)
		own[i] = atomic_load(&w->watchers[i].tid);
	if (!rc)
		rc = trace_read(w->trace, own, w->count, &w->conversion, &w->names, &w->words, &w->about, e);
	trace_names_resolve(&w->names);
	free(own);
	return rc;
}

static void watch_end(struct watch *w)
{
	for (size_t i = 0; i < w->count; i++)
		gap_log_close(&w->watchers[i].gap_log);
	free(w->watchers);
	trace_close(w->trace);
	trace_names_free(&w->names);
	trace_words_free(&w->words);
	json_decref(w->about);
}

/* --- evaluating events and gaps --- */

static int by_total(const void *a, const void *b)
{
	const struct cpu_noise_cause *one = a, *other = b;

	return (one->total_ns < other->total_ns) - (one->total_ns > other->total_ns);
}

static void cpu_noise_sum(const struct timeline *t, size_t causes, int64_t from, int64_t to, struct cpu_noise_cpu *out)
{
	out->causes = or_abort(calloc(causes + 1, sizeof(*out->causes)));
	for (size_t i = 0; i < causes; i++)
		out->causes[i].cause = (unsigned)i;
	for (size_t i = 0; i < t->count; i++) {
		const struct timeline_segment *s = &t->segments[i];
		struct cpu_noise_cause *c = &out->causes[s->cause];
		const int64_t length = s->to - s->from;

		if (s->from < from || s->to > to)
			continue;
		c->times++;
		c->total_ns += length;
		c->longest_ns = length > c->longest_ns ? length : c->longest_ns;
		out->times++;
		out->taken_ns += length;
		out->longest_ns = length > out->longest_ns ? length : out->longest_ns;
	}
	qsort(out->causes, causes, sizeof(*out->causes), by_total);
	while (out->count < causes && out->causes[out->count].times)
		out->count++;
}

static int cpu_noise_of(const struct watch *w, const struct watcher *one, struct cause_table *causes,
			struct cpu_noise_cpu *out, struct err *e)
{
	const struct stolen after = stolen_read(one->cpu);
	struct trace_words words = {.most = 0};
	struct trace_file f;
	struct timeline t;
	int rc = trace_gaps_merge(&w->words, false, &one->gap_log, one->cpu, &w->conversion, &words);

	f = trace_file_of_events(w->about, words.data, words.count);
	timeline_build(&f, CAUSE_NO_SIDE, false, causes, &t);
	*out = (struct cpu_noise_cpu){.cpu = one->cpu,
				      .watched_ns = clock_to_ns(&w->conversion, one->last) -
						    clock_to_ns(&w->conversion, one->first),
				      .complete = t.known_until == INT64_MAX && !one->gap_log.missed,
				      .steal_ms = after.steal_ms < 0 ? -1 : after.steal_ms - one->stolen.steal_ms};
	cpu_noise_sum(&t, causes->count, clock_to_ns(&w->conversion, one->first),
		      clock_to_ns(&w->conversion, one->last), out);
	timeline_free(&t);
	trace_words_free(&words);
	return rc ? err_sys(e, rc, "noise", "record the gaps of a spinning thread") : 0;
}

int cpu_noise_watch(const struct cpulist *cpus, unsigned milliseconds, struct cpu_noise *out, struct err *e)
{
	struct watch w = {.count = 0};
	int rc;

	*out = (struct cpu_noise){.count = 0};
	trace_names_init(&w.names);
	rc = watch_prepare(&w, cpus, milliseconds, e);
	if (!rc)
		rc = watch_spin(&w, e);
	if (!rc)
		rc = watch_read(&w, e);
	if (w.about)
		json_object_set(w.about, "names", w.names.list);
	out->cpus = or_abort(calloc(w.count + 1, sizeof(*out->cpus)));
	for (; !rc && out->count < w.count; out->count++)
		rc = cpu_noise_of(&w, &w.watchers[out->count], &out->causes, &out->cpus[out->count], e);
	watch_end(&w);
	return rc;
}

void cpu_noise_free(struct cpu_noise *n)
{
	for (size_t i = 0; i < n->count; i++)
		free(n->cpus[i].causes);
	free(n->cpus);
	cause_table_free(&n->causes);
	*n = (struct cpu_noise){.count = 0};
}

/* --- JSON --- */

static json_t *cpu_noise_cause_json(const struct cause *cause, const struct cpu_noise_cause *c)
{
	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:s}", "class", cause_keys[cause->class], "name", cause->name,
			 "times", (json_int_t)c->times, "total_ns", (json_int_t)c->total_ns, "longest_ns",
			 (json_int_t)c->longest_ns, "advice", cause_advice(cause));
}

json_t *cpu_noise_causes_json(const struct cpu_noise *n, const struct cpu_noise_cpu *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->count; i++)
		json_array_append_new(list, cpu_noise_cause_json(&n->causes.list[c->causes[i].cause], &c->causes[i]));
	return list;
}
