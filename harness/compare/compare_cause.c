#include "compare/compare_cause.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/sort.h"
#include "compare/compare_correlation.h"
#include "rundir/layout.h"
#include "rundir/manifest.h"

#define TICKS_HZ   100 /* USER_HZ, of /proc/stat */
#define SURE_T	   3.0 /* of a correlation: above this, it is reported as the cause */
#define REPS_MOST  10000
#define CHANGES	   "/changes.json"
#define COUNTERS   "/counters.json"
#define LIST_START "load.stat.cpu."

/* --- data of one run --- */

/* What changed during a run, according to its captures. */
struct observed {
	const struct compare_run *run;
	const json_t *point; /* in its summary */
	const char *flow;
	json_t *changes;       /* key -> {"before", "after", "delta"}, of the first host; NULL: not known */
	double ticks, seconds; /* of all CPUs; of the clock */
};

static double delta_of(const struct observed *o, const char *key)
{
	const json_t *change = json_object_get(o->changes, key);
	double delta = json_number_or_nan(change, "delta");

	return isnan(delta) ? 0 : delta;
}

static double stolen(const struct observed *o)
{
	return o->ticks > 0 ? 100 * delta_of(o, LIST_START "steal_ticks") / o->ticks : NAN;
}

static double waited(const struct observed *o)
{
	return o->seconds > 0 ? 100 * delta_of(o, "load.pressure.cpu.some_us") / 1e6 / o->seconds : NAN;
}

static double interrupts(const struct observed *o)
{
	return o->seconds > 0 ? delta_of(o, "load.stat.intr") / o->seconds : NAN;
}

/* Before the run, so without the load caused by the run itself. */
static double load(const struct observed *o)
{
	const char *text = json_text(json_object_get(o->run->state, "keys"), "load.average");

	return *text ? strtod(text, NULL) : NAN;
}

static double frequency(const struct observed *o)
{
	const json_t *keys = json_object_get(o->run->state, "keys"), *value;
	double sum = 0, n = 0;
	const char *key;

	json_object_foreach ((json_t *)keys, key, value) {
		double after = json_number_or_nan(json_object_get(o->changes, key), "after");
		size_t length = strlen(key);

		if (strncmp(key, "frequency.", 10) || length < 8 || strcmp(key + length - 8, ".now_khz") ||
		    !json_is_number(value))
			continue;
		sum += (json_number_value(value) + (isnan(after) ? json_number_value(value) : after)) / 2 / 1e3;
		n++;
	}
	return n > 0 ? sum / n : NAN;
}

static double side_switches(const json_t *counters, const char *side)
{
	double n = json_number_or_nan(json_object_get(counters, side), "switches_involuntary");

	return isnan(n) ? 0 : n;
}

/* For all repetitions of the noisy point. */
static double preempted(const struct observed *o)
{
	unsigned id = (unsigned)json_integer_value(json_object_get(o->point, "id"));
	double sum = 0;
	unsigned rep;

	for (rep = 0; o->point && rep < REPS_MOST; rep++) {
		char *dir = layout_rep_dir(o->run->run.path, id, rep, o->flow), *path = fs_path("%s" COUNTERS, dir);
		struct err e = ERR_INIT;
		json_t *counters = fs_is_missing(path) ? NULL : json_read(path, &e);

		free(path);
		free(dir);
		if (!counters)
			break;
		sum += side_switches(counters, "source") + side_switches(counters, "sink");
		json_decref(counters);
	}
	return rep ? sum : NAN;
}

static const struct source {
	const char *what, *format;
	double (*read)(const struct observed *o);
	double notable; /* higher values are reported even if they do not correlate with the latencies */
	bool less;	/* lower values are slower */
} sources[] = {
    {"time stolen by the hypervisor", "%.3g %%", stolen, 1, false},
    {"other programs on the measuring CPUs (involuntary context switches)", "%.4g", preempted, 10, false},
    {"load (time in which something waited for a CPU)", "%.3g %%", waited, 10, false},
    {"load of the machine before the run (load average)", "%.3g", load, 1, false},
    {"interrupts (a second)", "%.4g", interrupts, INFINITY, false},
    {"frequency of the CPUs (MHz)", "%.4g", frequency, INFINITY, true},
};

#define SOURCES (sizeof(sources) / sizeof(sources[0]))

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n >= m && !strcmp(name + n - m, end);
}

static bool is_cause_file(const char *name, void *arg)
{
	(void)arg;
	return (!strncmp(name, "state/", 6) && ends_in(name, CHANGES)) ||
	       (!strncmp(name, "points/", 7) && ends_in(name, COUNTERS));
}

/* What changed on the first host, by its key. */
static json_t *read_changes(const struct compare_run *run)
{
	const char *host = json_object_iter_key(json_object_iter(json_object_get(run->run.run, "hosts")));
	char *path = fs_path("%s/state/%s" CHANGES, run->run.path, host ? host : "");
	struct err e = ERR_INIT;
	json_t *file = fs_is_missing(path) ? NULL : json_read(path, &e), *by_key = file ? json_object() : NULL;
	const json_t *change;
	size_t i;

	json_array_foreach (json_object_get(file, "changed"), i, change)
		json_object_set(by_key, json_text(change, "key"), (json_t *)change);
	json_decref(file);
	free(path);
	return by_key;
}

static double cpus_of(const struct compare_run *run)
{
	const json_t *keys = json_object_get(run->state, "keys");
	char key[64];
	unsigned n = 0;

	while (snprintf(key, sizeof(key), "load.stat.cpu%u.user_ticks", n) > 0 && json_object_get(keys, key))
		n++;
	return n;
}

static struct observed observe(const struct compare_join *j, const struct compare_point *p, size_t run)
{
	static const char *const kinds[] = {"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"};
	struct observed o = {.run = &j->runs->run[run], .point = p->of_run[run], .flow = p->flow};
	double cpus = cpus_of(o.run);
	struct err e = ERR_INIT;

	if (fs_is_missing(o.run->run.path) || manifest_check_files(o.run->run.path, is_cause_file, NULL, &e))
		return (struct observed){.run = o.run};
	o.changes = read_changes(o.run);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		char key[64];

		snprintf(key, sizeof(key), LIST_START "%s_ticks", kinds[i]);
		o.ticks += delta_of(&o, key);
	}
	o.seconds = cpus > 0 ? o.ticks / TICKS_HZ / cpus : 0;
	return o;
}

/* --- the sentence --- */

struct cause {
	const struct source *source;
	double least, median, most, correlation, t;
};

/* False: no run has a value. */
static bool find_cause(const struct compare_runs *runs, double *value, const double *latency, struct cause *c)
{
	double df = -2, *known = or_abort(calloc(runs->count + 1, sizeof(*known)));
	size_t n = 0;

	c->correlation = compare_rank_correlation(runs, value, latency);
	for (size_t i = 0; i < runs->count; i++)
		if (!isnan(value[i]))
			known[n++] = value[i];
	sort_doubles(known, n);
	if (n) {
		c->least = known[0];
		c->median = known[n / 2];
		c->most = known[n - 1];
	}
	free(known);
	df += (double)n;
	c->t = (c->source->less ? -1 : 1) * c->correlation * sqrt(df / fmax(1e-9, 1 - c->correlation * c->correlation));
	return n > 0;
}

static json_t *cause_json(const struct cause *c)
{
	return json_pack("{s:s, s:f, s:f, s:f, s:o}", "what", c->source->what, "least", c->least, "median", c->median,
			 "most", c->most, "correlation",
			 isfinite(c->correlation) ? json_real(c->correlation) : json_null());
}

static json_t *cause_text(const struct cause *best, const struct cause *notable, size_t known)
{
	char least[32], most[32];

	if (!known)
		return json_string("the cause is not known: the runs' captures and counters are missing");
	if (!best && !notable)
		return json_string(
		    "the cause is not known: nothing in the captures and counters of the runs stands out");
	const struct cause *c = best ? best : notable;

	snprintf(least, sizeof(least), c->source->format, c->least);
	snprintf(most, sizeof(most), c->source->format, c->most);
	if (best)
		return json_sprintf("likely cause: %s, %s to %s in a run; slower runs have %s values (rank correlation "
				    "%.2f)",
				    c->source->what, least, most, c->source->less ? "lower" : "higher", c->correlation);
	return json_sprintf("possible cause: %s, %s to %s in a run, although slower runs do not have more of it",
			    c->source->what, least, most);
}

static const struct compare_point *point_of(const struct compare_join *j, const json_t *result, const json_t *noisy)
{
	const json_t *point;
	size_t i;

	json_array_foreach (json_object_get(result, "points"), i, point)
		if (i < j->count && json_equal(json_object_get(point, "id"), json_object_get(noisy, "point")) &&
		    json_is_true(json_object_get(json_array_get(json_object_get(point, "quantities"), 0), "noisy")))
			return &j->point[i];
	return NULL;
}

/* The first quantity of a point in each run; only its rank matters. */
static void fill_latencies(const struct compare_join *j, const struct compare_point *p, double *latency)
{
	for (size_t i = 0; i < j->runs->count; i++) {
		double value = compare_point_number(p, i, &p->quantity[0]);

		latency[i] = p->quantity[0].logarithms ? log(value) : value;
	}
}

static void fill_sources(const struct compare_join *j, const struct compare_point *p, double (*value)[SOURCES])
{
	for (size_t i = 0; i < j->runs->count; i++) {
		struct observed o = observe(j, p, i);

		for (size_t s = 0; s < SOURCES; s++)
			value[i][s] = o.changes ? sources[s].read(&o) : NAN;
		json_decref(o.changes);
	}
}

/* The causes for which there is data; `cause` has room for all. */
static size_t find_causes(const struct compare_join *j, const struct compare_point *p, struct cause *cause)
{
	double(*value)[SOURCES] = or_abort(calloc(j->runs->count + 1, sizeof(*value)));
	double *latency = or_abort(calloc(j->runs->count + 1, sizeof(*latency)));
	double *one = or_abort(calloc(j->runs->count + 1, sizeof(*one)));
	size_t known = 0;

	fill_latencies(j, p, latency);
	fill_sources(j, p, value);
	for (size_t s = 0; s < SOURCES; s++) {
		cause[known] = (struct cause){.source = &sources[s]};
		for (size_t i = 0; i < j->runs->count; i++)
			one[i] = value[i][s];
		known += find_cause(j->runs, one, latency, &cause[known]);
	}
	free(value);
	free(latency);
	free(one);
	return known;
}

void compare_cause(const struct compare_join *j, json_t *result)
{
	json_t *noisy = json_object_get(result, "noisy"), *list;
	const struct compare_point *p = json_is_object(noisy) ? point_of(j, result, noisy) : NULL;
	struct cause cause[SOURCES + 1], *best = NULL, *notable = NULL;
	size_t known;

	if (!p)
		return;
	list = json_array();
	known = find_causes(j, p, cause);
	for (struct cause *c = cause; c < cause + known; c++) {
		json_array_append_new(list, cause_json(c));
		best = c->t > SURE_T && (!best || c->t > best->t) ? c : best;
		notable = !notable && c->median > c->source->notable ? c : notable;
	}
	json_object_set_new(noisy, "cause", cause_text(best, notable, known));
	json_object_set_new(noisy, "causes", list);
}
