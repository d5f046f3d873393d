/*
 * A sequence folded by a period: what each phase's values are, and which phases stand out.
 */
#ifndef KBLAT_ANALYSIS_PHASES_H
#define KBLAT_ANALYSIS_PHASES_H

#include "analysis/period_score.h"

struct phase {
	size_t n;
	int64_t p10, p50, p90; /* nearest rank; 0 if n is 0 */
	int out;	       /* it stands out from the base: 1 above, -1 below */
};

struct phases {
	unsigned period;
	int64_t base; /* what most phases have: the median of their medians */
	/* how far chance moves a phase's median, by the spread of the values within phases */
	double error;
	struct phase *phase; /* [period]; the phase of the first message of a repetition is 0 */
};

/*
 * Fold. A pattern need not begin at the same place in every repetition: entry i of sequence k is of
 * phase (i + shifts[k]) % period. Release with phases_free().
 */
void phases_fold(const struct period_sequence *sequences, const unsigned *shifts, size_t count, unsigned period,
		 struct phases *out);
void phases_free(struct phases *p);

/* The shifts that bring all sequences into step with the first: `shifts` has room for `count`. 0 wherever that is
 * about as good. */
void phases_align(const struct period_sequence *sequences, size_t count, unsigned period, unsigned *shifts);

/* Take what the phases are above or below their base from all values. */
void phases_subtract(const struct phases *p, struct period_sequence *sequences, const unsigned *shifts, size_t count);

#endif
