/*
 * The number of a point that a claim is about: "lat_ns.p50" is the statistic p50 of the metric lat_ns,
 * "small.pacing.missed_share" the share of missed steps of the flow small. judge/analysis/statistic_rows.def and
 * judge/analysis/blocks.c list the statistics of metrics. And its interval, from the repetitions. Pure.
 */
#ifndef KBLAT_CLAIMS_CLAIM_METRIC_H
#define KBLAT_CLAIMS_CLAIM_METRIC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/units.h"
#include "files/claim/claim.h"
#include "judge/analysis/statistics.h"

struct complaints;
struct summary_point;

/* Its unit, and how the value of all repetitions is computed from that of each. Unknown statistics are treated as
 * quantiles of a series. */
enum measure claim_metric_measure(const struct claim_metric *m);
enum over_reps claim_metric_over_reps(const struct claim_metric *m);

/* The unit of its values, if the name contains one: for lat_ns.p50, but not for lat_ns.n. */
enum unit claim_metric_unit(const struct claim_metric *m);

/* What points can have numbers of; lists end with NULL. */
struct claim_metric_names {
	const char *const *series; /* of all kernels */
	const char *const *flows;  /* of all points; NULL: not known */
	bool only_flows;	   /* no point is without flows */
};

/* Tell everything that is wrong with a metric. */
void claim_metric_check(const struct claim_metric *m, const struct claim_metric_names *names, struct complaints *c);

/* --- intervals --- */

/*
 * Intervals for a number from repetitions, and for the ratio and the difference of two such numbers (docs/claims.md).
 * The messages of a repetition depend on each other, but repetitions do not. So each repetition contributes one value
 * of the statistic, and only the spread of these values matters. Intervals use ranks: they assume nothing about the
 * distribution, and one bad repetition among many does not decide.
 */
struct sample {
	enum over_reps over_reps; /* a sum has no interval */
	double value;		  /* of all repetitions together */
	const double *rep;	  /* the value of each repetition; those without one are left out */
	size_t reps;
	double error; /* how often an interval may miss the truth; 0: CLAIM_ERROR */
	const double
	    *of; /* of a share: the messages or steps that it is a share of, of each repetition; NULL: it is none */
	double clock_error; /* all of it may be off by so much, in one direction: of the clock between two hosts */
};

#define CLAIM_ERROR 0.05

struct estimate {
	double value;
	bool has_interval;
	double low, high;   /* low <= value <= high; both the value without an interval; may be infinite */
	double clock_error; /* the largest of its samples, which the interval includes */
};

/* The interval of the median of repetitions that the sign test does not reject. */
struct estimate estimate_value(const struct sample *s);

/* From all pairs of a repetition of one side and one of the other: what the rank-sum test does not reject (Hodges and
 * Lehmann 1963). */
struct estimate estimate_difference(const struct sample *a, const struct sample *b);
struct estimate estimate_ratio(const struct sample *a, const struct sample *b); /* b->value is not 0 */

/* --- a point of a summary --- */

/* A setting, by its key in params; NULL if the point has none of that name. */
const json_t *claim_point_param(const struct summary_point *point, const char *key);

/*
 * The measured values of a number, in the form needed for intervals; free with claim_sample_free(). On failure false, and
 * `why` says what is wrong with the point (to be freed). `rules`: those of the run (struct claim).
 */
bool claim_point_sample(const struct summary_point *point, const struct claim_metric *metric, int rules,
			struct sample *s, char **why);
void claim_sample_free(struct sample *s);

#endif
