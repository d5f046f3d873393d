/*
 * The verdict on two arms whose points are joined: for every point and quantity the change, its
 * interval, the margin and what follows from them (docs/compare.md). Pure except for the clock.
 * With fewer than 4 units per arm (6 pairs) there are no quantities, because there is no verdict.
 */
#ifndef KBLAT_COMPARE_JUDGE_H
#define KBLAT_COMPARE_JUDGE_H

#include "common/err.h"
#include "judge/compare/compare_join.h"
#include "judge/compare/compare_verdict.h"
#include "judge/compare/comparison.h"

/* comparison_free() it. A negative errno and `e`: there is none. The causes of noise (compare_noise.h) and of late
 * messages and of the machine's state (compare_causes.h) are left out. */
int compare_judge(const struct compare_join *j, const struct compare_rule *rule, struct comparison *c, struct err *e);

/* For callers that test quantities in another way: a point without results, to which the result of a quantity is
 * added, or if it has none, `why`. */
struct comparison_point compare_judge_point(const struct compare_join *j, const struct compare_point *p);
void compare_judge_add(struct comparison_point *p, const struct compare_entry *t, const char *why);

/* "rc, busy, 32B": the settings in which the points differ, preceded by the name of the flow; the
 * caller frees. */
char *compare_label(const struct compare_join *j, const struct compare_point *p);

/* The overall verdict (compare_verdict.h), using an existing plan. 0 or a negative errno. */
int compare_judge_overall(const struct compare_join *j, const struct compare_rule *rule, const struct perm_plan *plan,
			  enum compare_verdict *verdict);

/*
 * The shift function of two arms: the change of each quantile, with intervals that hold
 * simultaneously for all quantiles of a point (Doksum 1974; here computed by the permutation test
 * of compare_perm.h). It shows where in the distribution a change is, and decides nothing.
 */
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

/* Fill in the overall verdict and the sentence that states it from the rest of the result. */
void compare_answer(struct comparison *c);

#endif
