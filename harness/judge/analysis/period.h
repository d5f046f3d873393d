/*
 * Finds periods in a sequence of values automatically: the strongest one, and then further ones in
 * what remains once it is subtracted, up to PERIOD_LEVELS in total (a ring of 32 buffers, then a
 * page of 128 requests, …).
 *
 * A period is accepted if the evidence for it (period_score.h) exceeds the best evidence for any
 * period when the same values are shuffled, by PERIOD_MARGIN standard deviations of 20 seeded
 * shuffles. Of the accepted periods, the one is chosen whose phases explain most beyond chance,
 * divided by the square root of its degrees of freedom: 32 rather than 64, which does not explain
 * more, or 16, which explains half.
 *
 * For error rates see tests/unit/test_pattern.c and tests/bench/pattern_rates.c.
 */
#ifndef KBLAT_ANALYSIS_PERIOD_H
#define KBLAT_ANALYSIS_PERIOD_H

#include <stdint.h>

#include "judge/analysis/period_score.h"

#define PERIOD_LEVELS	3
#define PERIOD_SHUFFLES 20
#define PERIOD_MARGIN	5
#define PERIOD_SEED	1

struct phase {
	size_t n;
	int64_t p10, p50, p90; /* nearest rank; 0 if n is 0 */
	/* of the 40th and the 60th percentile: between two groups of values if half of them are in each */
	int64_t middle;
	int out; /* stands out from the base: 1 above, -1 below, 0 does not */
};

struct phases {
	unsigned period;
	int64_t base; /* the typical value: the median of the phases' medians */
	/* of a phase's median by chance, estimated from the spread of values within phases */
	double error;
	struct phase *phase; /* [period]; the phase of the first message of a repetition is 0 */
};

/*
 * Fold the sequences. A pattern may begin anywhere in a repetition: entry i of sequence k belongs
 * to phase (i + shifts[k]) % period. Release with phases_free().
 */
void phases_fold(const struct period_sequence *sequences, const unsigned *shifts, size_t count, unsigned period,
		 struct phases *out);
void phases_free(struct phases *p);

struct period_level {
	/* share of the variance of the ranks that its phases explain beyond chance: 0 < strength
	 * <= 1 */
	double strength;
	unsigned *shifts;   /* one per sequence: phases_align() */
	struct phases fold; /* of what previous levels left; contains the period that was found */
};

struct periods {
	size_t entries;	  /* number of values examined */
	unsigned longest; /* the longest period searched for; 0: too few values for any */
	double evidence;  /* for the best period */
	/* which shuffled values do not reach; 0: shuffling was not needed to tell that there is
	 * no period */
	double threshold;
	size_t count;
	struct period_level level[PERIOD_LEVELS];
};

/* Subtracts the periods that it finds from the sequences. Release with periods_free(). */
void periods_find(struct period_sequence *sequences, size_t count, struct periods *out);
void periods_free(struct periods *p);

#endif
