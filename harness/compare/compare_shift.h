/*
 * The shift function of two arms: the change of each quantile, with intervals that hold
 * simultaneously for all quantiles of a point (Doksum 1974; here computed by the permutation test
 * of compare/compare_perm.h). It shows where in the distribution a change is; the verdict comes
 * from compare_judge().
 */
#ifndef KBLAT_COMPARE_SHIFT_H
#define KBLAT_COMPARE_SHIFT_H

#include "compare/compare_join.h"

#define SHIFT_QUANTILES 17
extern const double shift_quantile[SHIFT_QUANTILES]; /* 0.01 to 0.999 */

struct shift {
	bool known[SHIFT_QUANTILES];
	/* per cent; may be infinite */
	double effect[SHIFT_QUANTILES], low[SHIFT_QUANTILES], high[SHIFT_QUANTILES];
};

/*
 * Compute it for one joined point. `value`: for each run of the comparison and each quantile, in
 * ns; NaN if there is none or the point does not count in that run. 0 or -ENOMEM.
 */
int compare_shift(const struct compare_runs *runs, const double (*value)[SHIFT_QUANTILES], uint64_t seed, double alpha,
		  struct shift *out);

#endif
