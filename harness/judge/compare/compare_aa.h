/*
 * Compares an arm with itself (an A/A test): its units are split into halves in `splits` ways,
 * drawn with the rule's seed, and each split is judged like a comparison. The earlier half is also
 * compared with the later one. The verdict "regression" means that there is a drift.
 */
#ifndef KBLAT_COMPARE_AA_H
#define KBLAT_COMPARE_AA_H

#include <stdio.h>

#include "judge/compare/compare_judge.h"

struct aa_quantity {
	const char *key;
	/* NAN: not known */
	double level, noise, noise_percent, stdev_units_percent, stdev_runs_percent;
};

struct aa_point {
	json_int_t id;
	char *label, *metric;
	struct aa_quantity *quantities;
	size_t quantity_count;
};

struct compare_aa {
	enum compare_outcome verdict;
	char *answer;
	enum compare_unit_kind kind;
	size_t units, runs;
	double alpha, effect;
	uint64_t seed;
	struct comparison_needed needed;
	struct aa_point *points;
	size_t point_count;
	size_t splits; /* 0: too few units, and what follows is empty */
	size_t count[COMPARE_VERDICTS];
	double false_alarms, false_alarms_upper_95; /* shares */
	enum compare_verdict earlier_later;	    /* the later half, compared with the earlier */
};

/* compare_aa_free() it. A negative errno and `e`: there is none. */
int compare_aa(const struct compare_join *j, const struct compare_rule *rule, size_t splits, struct compare_aa *out,
	       struct err *e);
void compare_aa_free(struct compare_aa *a);

/* Print it for people, 110 columns wide. */
void compare_aa_table(const struct compare_aa *a, FILE *out);

/* Its form in files, the only place that knows the keys: a new reference.
 *
 *   {"schema": 1, "verdict", "unit", "units", "runs", "alpha", "effect_percent", "seed", "needed" (comparison.h),
 *    "points": [{"id", "label", "metric", "quantities": [{"quantity", "level", "noise", "noise_percent",
 *      "stdev_units_percent", "stdev_runs_percent"}]}], "splits", "counts": {verdict: count}, "false_alarms",
 *    "false_alarms_upper_95", "earlier_later": a verdict, "answer"} */
json_t *compare_aa_json(const struct compare_aa *a);

#endif
