/*
 * Runs whose truth is known, made up in memory, for how often a comparison errs: latencies that
 * depend on those before them (a first-order autoregression of their logarithm), have a tail, and
 * share what their run and their boot add to all of them. They are summarised as a run's are, and
 * joined and judged as runs from disk.
 */
#ifndef KBLAT_TESTS_UNIT_SYNTHETIC_RUNS_H
#define KBLAT_TESTS_UNIT_SYNTHETIC_RUNS_H

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "judge/analysis/statistics.h"
#include "judge/analysis/summary_json.h"
#include "judge/compare/compare_judge.h"
#include "judge/compare/compare_perm.h"
#include "judge/compare/compare_runs.h"
#include "tests/unit/fixture_random.h"

struct synthetic {
	size_t boots, runs, messages;	    /* an arm, a boot, a run */
	double between_boots, between_runs; /* standard deviations, as shares */
	double correlation, spread;	    /* of a message with the next; of the logarithm */
	double tail;			    /* share of messages that take ten times as long */
	double slower;			    /* the other arm, as a share */
	/* what else a machine may do to its boots */
	bool one_arm_first;	    /* else they alternate: old new new old … */
	double warm_up;		    /* by so much it becomes slower, fast at first */
	double drift;		    /* and so much, evenly */
	double boot_correlation;    /* of a boot with the next */
	double outlier, outlier_by; /* share of boots that are slower by so much */
	double modes;		    /* every boot is in one of two, so far apart */
	bool heavy;		    /* boots vary as Student's t of 3 degrees of freedom */
	bool median_alone;	    /* nothing but p50 is compared */
	uint64_t seed;
};

/* Between boots and between runs 1 %, as measured; medians of 1 us. */
static const struct synthetic synthetic_usual = {
    .boots = 8,
    .runs = 3,
    .messages = 24000,
    .between_boots = 0.01,
    .between_runs = 0.01,
    .correlation = 0.9,
    .spread = 0.05,
    .tail = 0.004,
};

/* Marsaglia's polar method (1964), one at a time. */
static double synthetic_normal(uint64_t *state)
{
	double x, square;

	do {
		double y = 2 * fixture_uniform(state) - 1;

		x = 2 * fixture_uniform(state) - 1;
		square = x * x + y * y;
	} while (square >= 1 || square == 0);
	return x * sqrt(-2 * log(square) / square);
}

static json_t *synthetic_summary(const struct synthetic *s, double level, uint64_t *state)
{
	double z = synthetic_normal(state), fresh = sqrt(1 - s->correlation * s->correlation);
	int64_t *latency = calloc(s->messages, sizeof(*latency));
	struct span span = {latency, NULL, s->messages};
	struct err e = ERR_INIT;
	struct stats st;

	if (!latency)
		abort();
	for (size_t i = 0; i < s->messages; i++) {
		double ns = 1000 * exp(level + s->spread * z);

		z = s->correlation * z + fresh * synthetic_normal(state);
		if (fixture_uniform(state) < s->tail)
			ns *= 2 + 8 * fixture_uniform(state);
		latency[i] = (int64_t)ns;
	}
	if (stats_compute(&span, 1, 5000, &st, &e))
		abort();
	free(latency);
	return json_pack("{s:i, s:b, s:[{s:i, s:{s:s}, s:b, s:{s:o}}]}", "schema", 1, "valid", 1, "points", "id", 0,
			 "params", "kernel", "oneway", "valid", 1, "metrics", "lat_ns", statistics_json(&st));
}

static struct compare_run synthetic_run(const struct synthetic *s, enum compare_arm arm, size_t boot, double level,
					json_int_t when, uint64_t *state)
{
	json_t *summary = synthetic_summary(s, level, state);

	return (struct compare_run){
	    .arm = arm,
	    .boot = fs_path("%s-%zu", compare_arm_name[arm], boot),
	    .kernel = fs_path("%d", arm),
	    .hosts = fs_path("made up"),
	    .started_ns = when,
	    .run = {.path = fs_path("run %lld", (long long)when),
		    .record = {.clock = json_pack("{s:f}", "hz", 3e9), .t0.realtime_ns = when},
		    .resolved = json_pack("{s:s}", "name", "synthetic"),
		    .summary = summary},
	    .summary = summary_decode(summary),
	};
}

/* The next boot's deviation, after one of `last` (both in standard deviations). */
static double synthetic_deviation(const struct synthetic *s, double last, uint64_t *state)
{
	double c = s->boot_correlation, z = synthetic_normal(state), sum = 0;

	if (s->heavy) {
		for (int k = 0; k < 3; k++) {
			double x = synthetic_normal(state);

			sum += x * x;
		}
		return z / sqrt(sum); /* t / sqrt(3): its variance is 1 */
	}
	return c * last + sqrt(1 - c * c) * z;
}

/* What a machine does to its `i`-th boot in time, whatever the kernel. */
static double synthetic_boot(const struct synthetic *s, size_t i, double *last, uint64_t *state)
{
	double when = (double)i / (double)(2 * s->boots - 1), level;

	*last = synthetic_deviation(s, *last, state);
	level = s->between_boots * *last + s->warm_up * (1 - exp(-3 * when)) + s->drift * when;
	if (s->outlier > 0 && fixture_uniform(state) < s->outlier)
		level += s->outlier_by;
	if (s->modes > 0 && fixture_uniform(state) < 0.5)
		level += s->modes;
	return level;
}

/* compare_runs_free() them. */
static struct compare_runs synthetic_make(const struct synthetic *s)
{
	size_t n = s->boots * s->runs;
	struct compare_runs all = {.run = calloc(2 * n, sizeof(*all.run))};
	uint64_t state = s->seed;
	double last = synthetic_normal(&state);

	for (size_t i = 0; i < 2 * s->boots; i++) {
		enum compare_arm arm = s->one_arm_first ? i >= s->boots : i % 4 == 1 || i % 4 == 2;
		double boot = synthetic_boot(s, i, &last, &state) + (arm ? log1p(s->slower) : 0);

		for (size_t k = 0; k < s->runs; k++) {
			double level = boot + s->between_runs * synthetic_normal(&state);

			all.run[all.count] = synthetic_run(s, arm, i, level, (json_int_t)all.count + 1, &state);
			all.count++;
		}
	}
	return all;
}

/* The worst verdict (COMPARE_VERDICTS: there is none), and that of the median; -1 if it was not
 * compared. */
struct synthetic_verdict {
	size_t worst;
	enum status status;
	int median;
	double low, high; /* of the median, in per cent */
};

/* Of the runs of an arm's first `boots`; the runs stay the caller's. */
static struct synthetic_verdict synthetic_judge(const struct compare_runs *all, size_t boots,
						const struct compare_rule *rule, bool median_alone)
{
	const char *const median[] = {"p50"};
	const struct compare_choice choice = {.quantity = median, .quantity_count = median_alone};
	struct compare_runs some = {.run = calloc(all->count + 1, sizeof(*some.run))};
	struct synthetic_verdict v = {.worst = COMPARE_VERDICTS, .median = -1};
	size_t per_boot = 1, runs[ARMS] = {0}, i;
	struct compare_join join;
	struct err e = ERR_INIT;
	struct comparison result;

	while (per_boot < all->count && !strcmp(all->run[0].boot, all->run[per_boot].boot))
		per_boot++;
	for (i = 0; i < all->count; i++)
		if (runs[all->run[i].arm]++ < boots * per_boot)
			some.run[some.count++] = all->run[i];
	if (compare_units(&some, UNIT_AUTO, &e) || compare_join(&join, &some, &choice, &e) ||
	    compare_judge(&join, rule, &result, &e)) {
		printf("Bail out! %s\n", e.text);
		exit(1);
	}
	for (i = 0; i < result.points[0].quantity_count; i++) {
		const struct comparison_quantity *q = &result.points[0].quantities[i];
		enum compare_verdict verdict = q->verdict;

		if (!strcmp(q->key, "p50")) {
			v.median = (int)verdict;
			v.low = isnan(q->low.percent) ? 0 : q->low.percent;
			v.high = isnan(q->high.percent) ? 0 : q->high.percent;
		}
		/* In order of what matters: an alarm, then what is undecided. */
		if (verdict < v.worst && (verdict != COMPARE_EQUIVALENT || v.worst == COMPARE_VERDICTS))
			v.worst = verdict;
		else if (v.worst == COMPARE_EQUIVALENT && verdict == COMPARE_UNDECIDED)
			v.worst = COMPARE_UNDECIDED;
	}
	v.status = compare_verdict_status(result.verdict);
	comparison_free(&result);
	compare_join_free(&join);
	free(some.run);
	return v;
}

#define SYNTHETIC_RULE .effect = 0.02, .seed = 1, .alpha = 0.05

static inline struct synthetic_verdict synthetic_compare(const struct synthetic *s)
{
	const struct compare_rule rule = {SYNTHETIC_RULE};
	struct compare_runs all = synthetic_make(s);
	struct synthetic_verdict v = synthetic_judge(&all, s->boots, &rule, s->median_alone);

	compare_runs_free(&all);
	return v;
}

/* Looks at boots as they come, as kblat boots does, until one decides; `boots`: of an arm, by then. */
static inline struct synthetic_verdict synthetic_sequence(const struct synthetic *s, const struct compare_rule *asked,
							  size_t *boots)
{
	struct compare_rule rule = *asked;
	struct compare_runs all = synthetic_make(s);
	struct synthetic_verdict v;

	rule.planned = s->boots;
	for (*boots = COMPARE_UNITS;; ++*boots) {
		v = synthetic_judge(&all, *boots, &rule, s->median_alone);
		if (v.status != STATUS_UNDECIDED || *boots == s->boots)
			break;
	}
	compare_runs_free(&all);
	return v;
}

/*
 * How many make a rate. With sanitizers, ten times as slow, so many as take every path through the code; how often it errs is
 * judged without. False alarms are no more than what 5 % give in 999 of 1000 cases.
 */
#ifdef __SANITIZE_ADDRESS__
#define SYNTHETIC_TRIALS 10
#define SYNTHETIC_ALARMS 3
#else
#define SYNTHETIC_TRIALS 100
#define SYNTHETIC_ALARMS 12
#endif

/* Many of them, with a seed each; equal seeds give equal runs. */
struct synthetic_rates {
	size_t trials, worst[COMPARE_VERDICTS + 1], median[COMPARE_VERDICTS], covered, fine;
};

static inline struct synthetic_rates synthetic_rates(const struct synthetic *s, size_t trials)
{
	struct synthetic_rates r = {.trials = trials};
	struct synthetic one = *s;

	for (size_t i = 0; i < trials; i++) {
		struct synthetic_verdict v;

		one.seed = s->seed + i;
		v = synthetic_compare(&one);
		r.worst[v.worst]++;
		r.fine += v.status == STATUS_OK;
		if (v.median >= 0)
			r.median[v.median]++;
		r.covered += v.low <= 100 * s->slower && 100 * s->slower <= v.high;
	}
	return r;
}

static inline size_t synthetic_alarms(const struct synthetic_rates *r)
{
	return r->worst[COMPARE_REGRESSION] + r->worst[COMPARE_IMPROVEMENT];
}

#endif
