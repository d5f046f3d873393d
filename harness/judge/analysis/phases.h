/*
 * A sequence folded by a period: the values of each phase, and which phases stand out.
 */
#ifndef KBLAT_ANALYSIS_PHASES_H
#define KBLAT_ANALYSIS_PHASES_H

#include "judge/analysis/period_score.h"

struct phase {
	size_t n;
	int64_t p10, p50, p90; /* nearest rank; 0 if n is 0 */
	int out;	       /* stands out from the base: 1 above, -1 below, 0 does not */
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

/* Find the shifts that align all sequences with the first one; `shifts` has room for `count`. A
 * shift is 0 if that is about as good. */
void phases_align(const struct period_sequence *sequences, size_t count, unsigned period, unsigned *shifts);

/* Subtract each phase's deviation from the base from all of its values. */
void phases_subtract(const struct phases *p, struct period_sequence *sequences, const unsigned *shifts, size_t count);

#endif
