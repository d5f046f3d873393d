#include "judge/compare/compare_noise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/sort.h"
#include "common/text.h"
#include "files/rundir/layout.h"
#include "files/rundir/manifest.h"
#include "judge/analysis/summary.h"

#define TICKS_HZ   100 /* USER_HZ, of /proc/stat */
#define SURE_T	   3.0 /* of a correlation: above this, it is reported as the cause */
#define REPS_MOST  10000
#define CHANGES	   "/changes.json"
#define COUNTERS   "/counters.json"
#define LIST_START "load.stat.cpu."

/* --- is it too noisy? --- */

/* "2.3 %", or without a number `otherwise`. `format` has the number. */
static const char *amount_text(double percent, const char *format, const char *otherwise, char *text, size_t size)
{
	char number[24];

	snprintf(text, size, isnan(percent) ? otherwise : format,
		 compare_quantity_rounded(percent, number, sizeof(number)));
	return text;
}

static char *noise_text(const struct comparison_quantity *q, size_t points, size_t all)
{
	char noise[48], found[64], margin[32], where[64] = "";

	if (all > 1)
		snprintf(where, sizeof(where), " at %zu of %zu points", points, all);
	return fs_path(
	    "too noisy to judge a change of %s%s: without any change, %s differs %s%s in 19 of 20 such comparisons; %s",
	    amount_text(q->margin.percent, "%s %%", "any size", margin, sizeof(margin)), where,
	    compare_quantity_label(q->key),
	    amount_text(q->noise.percent, "by up to %s %%", "by any amount", noise, sizeof(noise)),
	    points > 1 ? " (at the worst of them)" : "",
	    amount_text(q->detectable.percent, "a change must be at least %s %% to be found",
			"no change would be found, however large", found, sizeof(found)));
}

static double excess_of(const struct comparison_quantity *q)
{
	return isnan(q->noise.own) ? INFINITY : q->noise.own / q->margin.own;
}

void compare_noise(struct comparison *c)
{
	const struct comparison_quantity *most = NULL;
	struct comparison_noise *n = &c->noise;

	for (size_t i = 0; i < c->point_count; i++) {
		const struct comparison_quantity *first = comparison_first(&c->points[i]);

		if (!first || !first->noisy)
			continue;
		n->points++;
		if (most && excess_of(first) <= excess_of(most))
			continue;
		most = first;
		n->at = i;
	}
	if (most)
		n->text = noise_text(most, n->points, c->point_count);
}

/* --- data of one run --- */

/* What changed during a run, according to its captures. */
struct observed {
	const struct compare_run *run;
	const struct summary_point *point; /* in its summary */
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
	double sum = 0;
	unsigned rep;

	for (rep = 0; o->point && rep < REPS_MOST; rep++) {
		char *dir = layout_rep_dir(o->run->run.path, (unsigned)o->point->id, rep, o->flow),
		     *path = fs_path("%s" COUNTERS, dir);
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

static bool is_cause_file(const char *name, void *arg)
{
	(void)arg;
	return (!strncmp(name, "state/", 6) && text_ends_in(name, CHANGES)) ||
	       (!strncmp(name, "points/", 7) && text_ends_in(name, COUNTERS));
}

/* What changed on the first host, by its key. */
static json_t *read_changes(const struct compare_run *run)
{
	const char *host = run->run.record.hosts ? run->run.record.host[0].name : "";
	char *path = fs_path("%s/state/%s" CHANGES, run->run.path, host);
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

static double captured_cpus(const struct compare_run *run)
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
	double cpus = captured_cpus(o.run);
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

/* --- correlation of two quantities of runs, apart from the difference between the arms --- */

struct ranked {
	double value;
	size_t index;
};

static int by_value(const void *a, const void *b)
{
	double x = ((const struct ranked *)a)->value, y = ((const struct ranked *)b)->value;

	return (x > y) - (x < y);
}

/* Replace values by ranks; equal values have their mean rank. */
static void rank(double *value, size_t n)
{
	struct ranked *sorted = or_abort(calloc(n + 1, sizeof(*sorted)));

	for (size_t i = 0; i < n; i++)
		sorted[i] = (struct ranked){value[i], i};
	qsort(sorted, n, sizeof(*sorted), by_value);
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && sorted[k].value == sorted[i].value; k++)
			;
		for (size_t m = i; m < k; m++)
			value[sorted[m].index] = (double)(i + k - 1) / 2;
	}
	free(sorted);
}

static double correlation(const double *x, const double *y, size_t n)
{
	double mean = (double)(n - 1) / 2, xy = 0, xx = 0, yy = 0;

	for (size_t i = 0; i < n; i++) {
		xy += (x[i] - mean) * (y[i] - mean);
		xx += (x[i] - mean) * (x[i] - mean);
		yy += (y[i] - mean) * (y[i] - mean);
	}
	return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

/* Subtract the mean of each arm, because differences between the arms do not count. */
static void subtract_arm_means(const enum compare_arm *arm, double *value, size_t n)
{
	for (enum compare_arm a = 0; a < ARMS; a++) {
		double sum = 0, count = 0;

		for (size_t i = 0; i < n; i++)
			if (arm[i] == a) {
				sum += value[i];
				count++;
			}
		for (size_t i = 0; i < n; i++)
			if (arm[i] == a)
				value[i] -= sum / count;
	}
}

/* Spearman's rank correlation, within the arms, over the runs that have both values (missing ones
 * are NAN). NAN if there are fewer than five. */
static double rank_correlation(const struct compare_runs *runs, const double *x, const double *y)
{
	double *a = or_abort(calloc(runs->count + 1, sizeof(*a))), *b = or_abort(calloc(runs->count + 1, sizeof(*b)));
	enum compare_arm *arm = or_abort(calloc(runs->count + 1, sizeof(*arm)));
	size_t n = 0;
	double r;

	for (size_t i = 0; i < runs->count; i++) {
		if (isnan(x[i]) || isnan(y[i]))
			continue;
		a[n] = x[i];
		b[n] = y[i];
		arm[n++] = runs->run[i].arm;
	}
	subtract_arm_means(arm, a, n);
	subtract_arm_means(arm, b, n);
	rank(a, n);
	rank(b, n);
	r = n > 4 ? correlation(a, b, n) : NAN;
	free(a);
	free(b);
	free(arm);
	return r;
}

/* --- the sentence --- */

struct cause_found {
	const struct source *source;
	struct comparison_cause of;
	double t;
};

/* False: no run has a value. */
static bool find_cause(const struct compare_runs *runs, double *value, const double *latency, struct cause_found *c)
{
	double df = -2, *known = or_abort(calloc(runs->count + 1, sizeof(*known)));
	size_t n = 0;

	c->of.correlation = rank_correlation(runs, value, latency);
	for (size_t i = 0; i < runs->count; i++)
		if (!isnan(value[i]))
			known[n++] = value[i];
	sort_doubles(known, n);
	if (n) {
		c->of.least = known[0];
		c->of.median = known[n / 2];
		c->of.most = known[n - 1];
	}
	free(known);
	df += (double)n;
	c->t = (c->source->less ? -1 : 1) * c->of.correlation *
	       sqrt(df / fmax(1e-9, 1 - c->of.correlation * c->of.correlation));
	return n > 0;
}

static char *cause_text(const struct cause_found *best, const struct cause_found *notable, size_t known)
{
	char least[32], most[32];

	if (!known)
		return fs_path("%s", "the cause is not known: the runs' captures and counters are missing");
	if (!best && !notable)
		return fs_path("%s",
			       "the cause is not known: nothing in the captures and counters of the runs stands out");
	const struct cause_found *c = best ? best : notable;

	snprintf(least, sizeof(least), c->source->format, c->of.least);
	snprintf(most, sizeof(most), c->source->format, c->of.most);
	if (best)
		return fs_path("likely cause: %s, %s to %s in a run; slower runs have %s values (rank correlation "
			       "%.2f)",
			       c->source->what, least, most, c->source->less ? "lower" : "higher", c->of.correlation);
	return fs_path("possible cause: %s, %s to %s in a run, although slower runs do not have more of it",
		       c->source->what, least, most);
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
static size_t find_causes(const struct compare_join *j, const struct compare_point *p, struct cause_found *cause)
{
	double(*value)[SOURCES] = or_abort(calloc(j->runs->count + 1, sizeof(*value)));
	double *latency = or_abort(calloc(j->runs->count + 1, sizeof(*latency)));
	double *one = or_abort(calloc(j->runs->count + 1, sizeof(*one)));
	size_t known = 0;

	fill_latencies(j, p, latency);
	fill_sources(j, p, value);
	for (size_t s = 0; s < SOURCES; s++) {
		cause[known] = (struct cause_found){.source = &sources[s], .of.what = sources[s].what};
		for (size_t i = 0; i < j->runs->count; i++)
			one[i] = value[i][s];
		known += find_cause(j->runs, one, latency, &cause[known]);
	}
	free(value);
	free(latency);
	free(one);
	return known;
}

void compare_noise_cause(const struct compare_join *j, struct comparison *result)
{
	struct comparison_noise *noise = &result->noise;
	struct cause_found cause[SOURCES + 1], *best = NULL, *notable = NULL;
	size_t known;

	if (!noise->points)
		return;
	known = find_causes(j, &j->point[noise->at], cause);
	noise->causes = or_abort(calloc(known + 1, sizeof(*noise->causes)));
	for (struct cause_found *c = cause; c < cause + known; c++) {
		noise->causes[noise->cause_count++] = c->of;
		best = c->t > SURE_T && (!best || c->t > best->t) ? c : best;
		notable = !notable && c->of.median > c->source->notable ? c : notable;
	}
	noise->cause = cause_text(best, notable, known);
}
