/*
 * Periods that are found by themselves in a sequence of values: the strongest, and what remains
 * once it is taken out, up to PERIOD_LEVELS times (a ring of 32 buffers, then a page of 128
 * requests, …).
 *
 * A period counts where the evidence for it (period_score.h) is beyond what the best of all periods
 * reaches when the same values are shuffled, by PERIOD_MARGIN standard deviations of 20 seeded
 * shuffles. Among those that count it is the one whose phases explain most beyond chance, over the
 * square root of its degrees of freedom: 32 rather than 64, which explains no more, or 16, which
 * explains half.
 *
 * Rates of error: tests/unit/test_pattern.c, tests/bench/pattern_rates.c.
 */
#ifndef KBLAT_ANALYSIS_PERIOD_H
#define KBLAT_ANALYSIS_PERIOD_H

#include "analysis/phases.h"

#define PERIOD_LEVELS	3
#define PERIOD_SHUFFLES 20
#define PERIOD_MARGIN	5
#define PERIOD_SEED	1

struct period_level {
	double strength;  /* share of the variance of the ranks that its phases explain, beyond chance: above 0, to 1 */
	unsigned *shifts; /* one a sequence: phases_align() */
	struct phases fold; /* of what the levels before left; its period is what was found */
};

struct periods {
	size_t entries;	  /* values that were looked at */
	unsigned longest; /* the longest period that was looked for; 0: too few values for any */
	double evidence;  /* of the best of them */
	double threshold; /* which shuffled values do not reach; 0: they were not needed to say that there is none */
	size_t count;
	struct period_level level[PERIOD_LEVELS];
};

/* Takes what it finds out of the sequences. Release with periods_free(). */
void periods_find(struct period_sequence *sequences, size_t count, struct periods *out);
void periods_free(struct periods *p);

#endif
