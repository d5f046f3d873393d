#include "measure/trace/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>

#include "common/err.h"
#include "common/or_abort.h"
#include "common/sysroot.h"
#include "measure/trace/trace_place.h"

#define SMALLEST_KB "1" /* the kernel rounds it up to its minimum */

struct trace {
	struct tracefs_instance *instance;
	struct tep_handle *tep;
	struct cpulist cpus;
	bool is_in_ticks; /* the trace clock is the tick counter */
	struct clock_point begin, end;
};

/* Report an error with a file of the instance. */
static int complain_file(const char *file, const char *operation, struct err *e)
{
	char object[96];

	snprintf(object, sizeof(object), "trace instance: %s", file);
	return err_sys(e, errno ? -errno : -EIO, object, operation);
}

static int trace_write(struct trace *t, const char *file, const char *text, struct err *e)
{
	errno = 0;
	return tracefs_instance_file_write(t->instance, file, text) < 0 ? complain_file(file, "write", e) : 0;
}

/* --- open --- */

int trace_online_cpus(struct cpulist *out)
{
	struct sysroot root;
	char text[CPULIST_TEXT_MAX];
	int rc = sysroot_open(&root, NULL, NULL);

	if (rc)
		return rc;
	rc = sysroot_line(&root, "/sys/devices/system/cpu/online", text, sizeof(text));
	sysroot_close(&root);
	return rc ? rc : cpulist_parse(text, out, NULL, 0);
}

/* The tick counter itself, or a clock that can be converted to it. */
static int choose_clock(struct trace *t, struct err *e)
{
	static const struct {
		const char *name;
		bool is_in_ticks;
	} clocks[] = {
#if defined(__x86_64__)
		{"x86-tsc", true},
#endif
		{"mono_raw", false},
	};

	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		if (!trace_write(t, "trace_clock", clocks[i].name, NULL)) {
			t->is_in_ticks = clocks[i].is_in_ticks;
			return 0;
		}
	return err_set(e, -ENOTSUP, STATUS_IMPOSSIBLE, "trace clock", NULL,
		       "this kernel has no trace clock that can be compared with the tick counter (x86-tsc, mono_raw)");
}

static int trace_set_cpus(struct trace *t, uint64_t bytes, struct err *e)
{
	char mask[CPULIST_TEXT_MAX], file[64], kb[32];
	int rc = trace_write(t, "tracing_cpumask", cpulist_format_mask(&t->cpus, mask, sizeof(mask)), e);

	if (!rc)
		rc = trace_write(t, "buffer_size_kb", SMALLEST_KB, e);
	snprintf(kb, sizeof(kb), "%llu", (unsigned long long)(bytes + 1023) / 1024);
	for (int cpu = -1; !rc && (cpu = cpulist_next(&t->cpus, cpu)) >= 0;) {
		snprintf(file, sizeof(file), "per_cpu/cpu%d/buffer_size_kb", cpu);
		rc = trace_write(t, file, kb, e);
	}
	return rc;
}

/* The formats of the events of a system. */
static void read_formats(struct tep_handle *tep, const char *place, const char *system)
{
	char **events = tracefs_system_events(place, system), *text;
	int size;

	for (size_t i = 0; events && events[i]; i++) {
		text = tracefs_event_file_read(NULL, system, events[i], "format", &size);
		if (text)
			tep_parse_event(tep, text, (unsigned long)size, system);
		free(text);
	}
	tracefs_list_free(events);
}

/*
 * tracefs_local_events_system() would also read the kernel's symbols, which nothing here needs, and
 * copies them a thousand times with an allocator that cannot move pages (as with sanitizers).
 */
static struct tep_handle *read_events(const char *place)
{
	struct tep_handle *tep = tep_alloc();
	int size;
	char *header = tep ? tracefs_instance_file_read(NULL, "events/header_page", &size) : NULL;

	if (!header || tep_parse_header_page(tep, header, (unsigned long)size, sizeof(long))) {
		tep_free(tep);
		tep = NULL;
	}
	free(header);
	for (size_t i = 0; tep && trace_event_systems[i]; i++)
		read_formats(tep, place, trace_event_systems[i]);
	return tep;
}

static int enable_events(struct trace *t, const char *place, enum trace_set set, struct err *e)
{
	t->tep = read_events(place);
	if (!t->tep)
		return err_set(e, -EIO, STATUS_IMPOSSIBLE, "tracefs", NULL, "its events cannot be read");
	if (!trace_events_enable(t->instance, set))
		return err_set(e, -ENOTSUP, STATUS_IMPOSSIBLE, "tracefs", NULL,
			       "this kernel has none of the events needed");
	return 0;
}

static int make_instance(struct trace *t, struct err *e)
{
	char name[TRACE_INSTANCE_NAME];

	errno = 0;
	t->instance = tracefs_instance_create(trace_place_name(name));
	if (t->instance)
		return 0;
	return err_set(e, errno ? -errno : -EIO, STATUS_IMPOSSIBLE, "tracefs", NULL,
		       "a trace instance cannot be made: %s", strerror(errno ? errno : EIO));
}

int trace_open(struct trace **out, const struct cpulist *cpus, uint64_t bytes, enum trace_set set, struct err *e)
{
	struct trace *t = or_abort(calloc(1, sizeof(*t)));
	int rc = trace_place_check_ids(e);
	const char *place = rc ? NULL : trace_place(e);

	*out = NULL;
	rc = rc || place ? rc : -ENOENT;
	if (!rc) {
		t->cpus = *cpus;
		trace_place_sweep();
		rc = make_instance(t, e);
	}
	if (!rc)
		rc = trace_write(t, "tracing_on", "0", e);
	/* If the buffer is full, the latest events are dropped, so it is known until when the trace
	 * is complete. */
	if (!rc)
		rc = trace_write(t, "options/overwrite", "0", e);
	if (!rc)
		rc = choose_clock(t, e);
	if (!rc)
		rc = trace_set_cpus(t, bytes, e);
	if (!rc)
		rc = enable_events(t, place, set, e);
	if (rc == -EPERM || rc == -EACCES) {
		err_clear(e);
		rc = trace_place_refuse(-rc, e);
	}
	if (rc)
		trace_close(t);
	else
		*out = t;
	return rc;
}

void trace_close(struct trace *t)
{
	if (!t)
		return;
	if (t->instance) {
		tracefs_instance_destroy(t->instance);
		tracefs_instance_free(t->instance);
	}
	if (t->tep)
		tep_free(t->tep);
	free(t);
}

/* --- from start to stop --- */

int trace_start(struct trace *t, struct err *e)
{
	int rc = trace_write(t, "tracing_on", "0", e);

	if (!rc)
		rc = trace_write(t, "trace", "", e);
	if (!rc && !t->is_in_ticks)
		t->begin = clock_observe();
	return rc ? rc : trace_write(t, "tracing_on", "1", e);
}

void trace_follow(struct trace *t, const pid_t *own, size_t own_count)
{
	trace_events_follow(t->instance, own, own_count);
}

/* "12 13 14 " */
static char *list_of_threads(const pid_t *threads, size_t count)
{
	enum { MOST = 16 }; /* of a number and its space */
	char *list = or_abort(malloc(count * MOST + 1)), *at = list;

	*at = '\0';
	for (size_t i = 0; i < count; i++)
		at += snprintf(at, MOST, "%d ", (int)threads[i]);
	return list;
}

#define NOT_SUPPORTED 524 /* include/linux/errno.h: ENOTSUPP, which C libraries do not know */

int trace_follow_program(struct trace *t, const pid_t *threads, size_t count, const char *probes, struct err *e)
{
	char *list = list_of_threads(threads, count);
	int rc = trace_write(t, "options/event-fork", "1", e);

	if (!rc)
		rc = trace_write(t, "set_event_pid", list, e);
	if (!rc && probes) {
		const char *place = trace_place(e);

		errno = 0;
		if (place)
			read_formats(t->tep, place, probes);
		if (!place || tracefs_event_enable(t->instance, probes, NULL))
			rc = errno == NOT_SUPPORTED ? err_set(e, -ENOTSUP, STATUS_IMPOSSIBLE, "probes", NULL,
							      "the kernel cannot probe one of the instructions")
						    : complain_file(probes, "enable", e);
	}
	free(list);
	return rc;
}

int trace_stop(struct trace *t, struct err *e)
{
	int rc = trace_write(t, "tracing_on", "0", e);

	if (!rc && !t->is_in_ticks)
		t->end = clock_observe();
	return rc;
}

/* --- reading --- */

/* For a CPU: until when its events are complete, and how many came after the limit. */
struct cpu_reading {
	int64_t last;
	int64_t left;
};

struct reading {
	struct trace *trace;
	struct trace_reader reader;
	const struct clock_conversion *conversion;
	struct clock_fit_line {
		double slope;
		struct clock_point from;
	} line;
	int rc;
	struct cpu_reading *cpus; /* [CPULIST_MAX] */
};

/* Convert a record's time to ticks, by the line through the two moments at which both clocks were read. */
static int64_t ticks_of(const struct reading *r, uint64_t time)
{
	if (r->trace->is_in_ticks)
		return (int64_t)time;
	return r->line.from.ticks + (int64_t)((double)((int64_t)time - r->line.from.ns) * r->line.slope);
}

static void reading_fit(struct reading *r)
{
	const struct clock_point *a = &r->trace->begin, *b = &r->trace->end;

	r->line.from = *a;
	r->line.slope = b->ns > a->ns ? (double)(b->ticks - a->ticks) / (double)(b->ns - a->ns) : 1;
}

static int on_record(struct tep_event *event, struct tep_record *record, int cpu, void *arg)
{
	struct reading *r = arg;
	const int64_t time = clock_to_ns(r->conversion, ticks_of(r, record->ts));
	const size_t left = r->reader.to->left;
	struct cpu_reading *of;

	if (!cpulist_has(&r->trace->cpus, (unsigned)cpu))
		return 0;
	r->rc = trace_events_keep(&r->reader, event, record, cpu, time);
	of = &r->cpus[cpu];
	of->left += (int64_t)(r->reader.to->left - left);
	if (!of->left)
		of->last = time;
	return r->rc;
}

/* The number of events dropped by the buffer of a CPU. */
static int64_t dropped_of(struct trace *t, int cpu)
{
	static const char key[] = "dropped events: ";
	char file[64], *text, *at;
	int64_t dropped = 0;

	snprintf(file, sizeof(file), "per_cpu/cpu%d/stats", cpu);
	text = tracefs_instance_file_read(t->instance, file, NULL);
	at = text ? strstr(text, key) : NULL;
	if (at)
		dropped = strtoll(at + strlen(key), NULL, 10);
	free(text);
	return dropped;
}

/* For CPUs that lost events: how many, and until when they are complete. */
static void note_lost(const struct reading *r, json_t *lost, json_t *known)
{
	char key[16];

	for (int cpu = -1; (cpu = cpulist_next(&r->trace->cpus, cpu)) >= 0;) {
		const int64_t missing = dropped_of(r->trace, cpu) + r->cpus[cpu].left;

		if (!missing)
			continue;
		snprintf(key, sizeof(key), "%d", cpu);
		json_object_set_new(lost, key, json_integer(missing));
		json_object_set_new(known, key, json_integer(r->cpus[cpu].last));
	}
}

static json_t *trace_kind_keys(void)
{
	json_t *keys = json_array();

#define KIND(id, key, ...) json_array_append_new(keys, json_string(key));
#include "common/lateness.def"
	return keys;
}

static json_t *describe_trace(const struct reading *r, json_t *lost, json_t *known)
{
	char cpus[CPULIST_TEXT_MAX];

	return json_pack("{s:s, s:s, s:o, s:I, s:o, s:o}", "clock", r->trace->is_in_ticks ? "x86-tsc" : "mono_raw",
			 "cpus", cpulist_format(&r->trace->cpus, cpus, sizeof(cpus)), "kinds", trace_kind_keys(),
			 "events", (json_int_t)r->reader.to->count, "lost", lost, "known_until_ns", known);
}

static int read_instance(struct trace *t, const struct trace_reader *reader, const struct clock_conversion *c,
			 json_t **about, struct err *e)
{
	struct trace_words *to = reader->to;
	struct reading r = {
	    .trace = t, .reader = *reader, .conversion = c, .cpus = or_abort(calloc(CPULIST_MAX, sizeof(*r.cpus)))};
	json_t *lost = json_object(), *known = json_object();

	to->most = TRACE_EVENTS_MOST;
	reading_fit(&r);
	/* Read before the buffers are emptied, because the count refers to their current content. */
	errno = 0;
	if (tracefs_iterate_raw_events(t->tep, t->instance, NULL, 0, on_record, &r) < 0 && !r.rc)
		r.rc = errno ? -errno : -EIO;
	note_lost(&r, lost, known);
	*about = describe_trace(&r, lost, known);
	free(r.cpus);
	return r.rc ? err_sys(e, r.rc, "trace instance", "read") : 0;
}

int trace_read(struct trace *t, const pid_t *own, size_t own_count, const struct clock_conversion *c,
	       struct trace_names *names, struct trace_words *to, json_t **about, struct err *e)
{
	struct trace_threads threads = {.bits = NULL};
	int rc;

	for (size_t i = 0; i < own_count; i++)
		trace_threads_add(&threads, own[i]);
	rc = read_instance(t, &(struct trace_reader){&threads, names, to, NULL}, c, about, e);
	trace_threads_free(&threads);
	return rc;
}

/* --- a program --- */

static void reserve_names(struct trace_program *p)
{
	p->running = or_abort(calloc(CPULIST_MAX, sizeof(*p->running)));
	p->interrupt = or_abort(calloc(CPULIST_MAX, sizeof(*p->interrupt)));
	p->softirq = or_abort(calloc(CPULIST_MAX, sizeof(*p->softirq)));
	for (size_t i = 0; i < CPULIST_MAX; i++)
		p->running[i] = p->interrupt[i] = p->softirq[i] = -1;
}

/* Both in order of time. */
static int merge_words(const struct trace_words *a, const struct trace_words *b, struct trace_words *to)
{
	size_t i = 0, k = 0;
	int rc = 0;

	to->most = TRACE_EVENTS_MOST;
	while (!rc && (i < a->count || k < b->count)) {
		const int64_t *one = a->data + i * TRACE_WORDS, *other = b->data + k * TRACE_WORDS;
		const bool is_one = k == b->count || (i < a->count && one[TRACE_TIME] <= other[TRACE_TIME]);

		rc = trace_words_add(to, is_one ? one : other);
		i += is_one;
		k += !is_one;
	}
	return rc;
}

/* What the second instance lost is lost as well: the numbers of a CPU are added, and the earlier time counts. */
static void merge_lost(json_t *about, const json_t *more)
{
	json_t *lost = json_object_get(about, "lost"), *known = json_object_get(about, "known_until_ns"), *n;
	const char *cpu;

	json_object_foreach (json_object_get(more, "lost"), cpu, n)
		json_object_set_new(
		    lost, cpu, json_integer(json_integer_value(n) + json_integer_value(json_object_get(lost, cpu))));
	json_object_foreach (json_object_get(more, "known_until_ns"), cpu, n) {
		const json_t *had = json_object_get(known, cpu);

		if (!had || json_integer_value(n) < json_integer_value(had))
			json_object_set(known, cpu, n);
	}
}

/* Both together may be more than a file holds. */
static void note_left(json_t *about, const struct trace_words *all)
{
	json_t *more;

	if (!all->left || !all->count)
		return;
	more = json_pack("{s:{s:I}, s:{s:I}}", "lost", "0", (json_int_t)all->left, "known_until_ns", "0",
			 (json_int_t)all->data[(all->count - 1) * TRACE_WORDS + TRACE_TIME]);
	merge_lost(about, more);
	json_decref(more);
}

int trace_read_program(struct trace *machine, struct trace *calls, struct trace_program *p,
		       const struct clock_conversion *c, struct trace_names *names, struct trace_words *to,
		       json_t **about, struct err *e)
{
	struct trace_words own = {.most = 0}, all = {.most = 0};
	json_t *about_calls = NULL;
	int rc;

	reserve_names(p);
	/* First, because it tells which threads the program has started. */
	rc = read_instance(calls, &(struct trace_reader){&p->threads, names, &own, p}, c, &about_calls, e);
	if (!rc)
		rc = read_instance(machine, &(struct trace_reader){&p->threads, names, &all, p}, c, about, e);
	if (!rc && merge_words(&all, &own, to))
		rc = err_sys(e, -ENOMEM, "trace instance", "read");
	if (!rc) {
		merge_lost(*about, about_calls);
		note_left(*about, to);
		json_object_set_new(*about, "events", json_integer((json_int_t)to->count));
	}
	json_decref(about_calls);
	trace_words_free(&own);
	trace_words_free(&all);
	free(p->running);
	free(p->interrupt);
	free(p->softirq);
	return rc;
}

static int add_gap(const struct logged_gap *gap, int cpu, const struct clock_conversion *c, struct trace_words *to)
{
	const int64_t from = clock_to_ns(c, gap->from), end = clock_to_ns(c, gap->to);

	return trace_words_add(to, (int64_t[TRACE_WORDS]){end, cpu, TRACE_GAP, -1, end - from});
}

int trace_gaps_merge(const struct trace_words *events, bool others, const struct gap_log *w, int cpu,
		     const struct clock_conversion *c, struct trace_words *to)
{
	uint32_t gap = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < events->count; i++) {
		const int64_t *event = events->data + i * TRACE_WORDS;

		if (!others && event[TRACE_CPU] != cpu)
			continue;
		while (!rc && gap < w->count && clock_to_ns(c, w->gaps[gap].to) < event[TRACE_TIME])
			rc = add_gap(&w->gaps[gap++], cpu, c, to);
		if (!rc)
			rc = trace_words_add(to, event);
	}
	while (!rc && gap < w->count)
		rc = add_gap(&w->gaps[gap++], cpu, c, to);
	return rc;
}
