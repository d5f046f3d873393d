/*
 * How sure is a number that comes from repetitions? Intervals for one, and for the ratio and the
 * difference of two (docs/claims.md). Messages of one repetition depend on each other, repetitions
 * do not: each repetition's statistic is one value, and only the spread of these counts. By ranks,
 * so that nothing is assumed of their distribution and one repetition that went wrong among many
 * does not decide. Pure.
 */
#ifndef KBLAT_CLAIMS_CLAIM_INTERVAL_H
#define KBLAT_CLAIMS_CLAIM_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/statistics.h"

struct sample {
	enum over_reps over_reps; /* a sum has no interval */
	double value;		  /* of all repetitions together */
	const double *rep;	  /* each one's; those that have none are left out */
	size_t reps;
};

struct estimate {
	double value;
	bool has_interval;
	double low, high; /* low <= value <= high; both the value without an interval; may be infinite */
};

/* The interval of the median of repetitions that the sign test does not reject. */
struct estimate estimate_value(const struct sample *s);

/* All pairs of a repetition of either side: what the rank-sum test does not reject (Hodges and
 * Lehmann 1963). */
struct estimate estimate_difference(const struct sample *a, const struct sample *b);
struct estimate estimate_ratio(const struct sample *a, const struct sample *b); /* b->value is not 0 */

#endif
