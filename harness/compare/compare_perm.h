/*
 * An exact permutation test of two arms, jointly over several quantities, and the intervals that
 * come of inverting it. Pure: numbers in, numbers out.
 *
 * The units of both arms are relabelled in every way that could have happened
 * (compare/compare_plan.h). A quantity's statistic is Student's t, times its weight; the largest
 * over all quantities, under each relabelling, is what each of them is held against (max-T;
 * Westfall and Young 1993): the chance that any of them is found to differ where none does is at
 * most alpha, whatever the distributions and however quantities depend on each other.
 *
 * An interval holds the shifts that would not be rejected at the levels which max-T leaves to its
 * quantity; its ends have a closed form (Tritchler 1984). It excludes 0 exactly where p <= alpha.
 */
#ifndef KBLAT_COMPARE_PERM_H
#define KBLAT_COMPARE_PERM_H

#include "compare/compare_plan.h"

/* Whether it became worse is asked of a kernel: that side has four fifths of alpha. Whether it differs,
 * of a knob: both sides are alike. */
enum perm_question { PERM_IS_WORSE, PERM_DIFFERS };

enum perm_side { PERM_WORSE, PERM_BETTER, PERM_SIDES };
#define PERM_BETTER_SHARE 0.2 /* of alpha */

struct perm_quantity {
	const double *value; /* one a unit; NaN: it has none */
	double weight;	     /* 1, or less for what is to stand out more; of PERM_IS_WORSE on that side alone */
	bool less_is_worse;
	/* out */
	bool known; /* at least two units (one pair and another) in each arm */
	/* mean of the other arm - mean of the base; of pairs, the mean difference */
	double effect;
	double low, high;	      /* infinite where nothing can be excluded */
	double low_alone, high_alone; /* ends of this one alone: each errs in alpha of all cases */
	double p, p_alone;	      /* over all quantities; of this one alone, both directions alike */
	double level;		      /* of the worse side, what max-T leaves to this one alone */
	bool drifts;		      /* what is slow in time was taken out */
	double error, df;	      /* the effect's standard error, and its degrees of freedom */
};

/* 0 or -ENOMEM. */
int perm_judge(const struct perm_plan *p, struct perm_quantity *q, size_t count, double alpha,
	       enum perm_question question);

/*
 * The noise floor: the 95th percentile of |difference of means| over the ways to split `count`
 * values into halves (of an odd count, as nearly). NaN with fewer than 4.
 */
double perm_noise_floor(const double *value, size_t count, uint64_t seed);

#endif
