/*
 * An exact permutation test of two arms, jointly over several quantities, and the intervals that
 * result from inverting it. Pure: numbers in, numbers out.
 *
 * The units of both arms are relabelled in every way that could have occurred
 * (judge/compare/compare_plan.h). A quantity's statistic is Student's t times its weight. Each quantity
 * is compared with the largest statistic of all quantities under each relabelling (max-T; Westfall
 * and Young 1993). So the probability that any of them is found to differ although none does is at
 * most alpha, whatever the distributions are, and however the quantities depend on each other.
 *
 * An interval contains the shifts that would not be rejected at the level that max-T leaves to its
 * quantity; its ends have a closed form (Tritchler 1984). It excludes 0 exactly if p <= alpha.
 */
#ifndef KBLAT_COMPARE_PERM_H
#define KBLAT_COMPARE_PERM_H

#include "judge/compare/compare_plan.h"

/* For kernels, the question is whether the new one is worse: that side has four fifths of alpha.
 * For knobs, it is whether they make a difference: both sides have the same part. */
enum perm_question { PERM_IS_WORSE, PERM_DIFFERS };

enum perm_side { PERM_WORSE, PERM_BETTER, PERM_SIDES };
#define PERM_BETTER_SHARE 0.2 /* of alpha */

struct perm_quantity {
	const double *value; /* one per unit; NaN: it has none */
	/* 1, or less for quantities that must stand out more; for PERM_IS_WORSE only on that
	 * side */
	double weight;
	bool less_is_worse;
	/* results */
	bool known; /* there are at least two units in each arm (two pairs) */
	/* mean of the other arm - mean of the base; for pairs, the mean difference */
	double effect;
	double low, high; /* infinite if nothing can be excluded */
	/* ends of the interval for this quantity alone: each is wrong with probability alpha */
	double low_alone, high_alone;
	double p, p_alone; /* jointly over all quantities; for this one alone, two-sided */
	double level;	   /* of the worse side: the level that max-T leaves to this quantity */
	bool drifts;	   /* trends over time were subtracted */
	double error, df;  /* the effect's standard error, and its degrees of freedom */
};

/* 0 or -ENOMEM. */
int perm_judge(const struct perm_plan *p, struct perm_quantity *q, size_t count, double alpha,
	       enum perm_question question);

/*
 * The noise floor: the 95th percentile of |difference of means| over the ways to split `count`
 * values into halves (almost, if `count` is odd). NaN with fewer than 4.
 */
double perm_noise_floor(const double *value, size_t count, uint64_t seed);

#endif
