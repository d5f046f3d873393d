/*
 * Intervals for a number from repetitions, and for the ratio and the difference of two such numbers (docs/claims.md).
 * The messages of a repetition depend on each other, but repetitions do not. So each repetition contributes one value
 * of the statistic, and only the spread of these values matters. Intervals use ranks: they assume nothing about the
 * distribution, and one bad repetition among many does not decide. Pure.
 */
#ifndef KBLAT_CLAIMS_CLAIM_INTERVAL_H
#define KBLAT_CLAIMS_CLAIM_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/statistics.h"

struct sample {
	enum over_reps over_reps; /* a sum has no interval */
	double value;		  /* of all repetitions together */
	const double *rep;	  /* the value of each repetition; those without one are left out */
	size_t reps;
};

struct estimate {
	double value;
	bool has_interval;
	double low, high; /* low <= value <= high; both the value without an interval; may be infinite */
};

/* The interval of the median of repetitions that the sign test does not reject. */
struct estimate estimate_value(const struct sample *s);

/* From all pairs of a repetition of one side and one of the other: what the rank-sum test does not reject (Hodges and
 * Lehmann 1963). */
struct estimate estimate_difference(const struct sample *a, const struct sample *b);
struct estimate estimate_ratio(const struct sample *a, const struct sample *b); /* b->value is not 0 */

#endif
