/*
 * An exact permutation test of two arms, jointly over several quantities, and the intervals that
 * result from inverting it. Pure: numbers in, numbers out.
 *
 * The units of both arms are relabelled in every way that could have occurred
 * (compare_plan.c). A quantity's statistic is Student's t times its weight. Each quantity
 * is compared with the largest statistic of all quantities under each relabelling (max-T; Westfall
 * and Young 1993). So the probability that any of them is found to differ although none does is at
 * most alpha, whatever the distributions are, and however the quantities depend on each other.
 *
 * An interval contains the shifts that would not be rejected at the level that max-T leaves to its
 * quantity; its ends have a closed form (Tritchler 1984). It excludes 0 exactly if p <= alpha.
 */
#ifndef KBLAT_COMPARE_PERM_H
#define KBLAT_COMPARE_PERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- relabellings (compare_plan.c) --- */

/*
 * The ways in which the units (boots or runs) of two arms could have been labelled: any of them in
 * either arm, or for pairs, each pair swapped or not. If there are more than PERM_MAX ways, that
 * many are drawn, including the real one so that p stays valid. And the difference of the arms' means
 * of one quantity under one of these relabellings. Pure.
 */

#define PERM_MAX    50000
#define PERM_UNITS  256 /* of both arms together */
#define PERM_TRENDS 2

struct perm_plan {
	size_t base, with; /* units of each arm; the first of a quantity's values are the base's */
	bool pairs;	   /* unit i of the base and unit i of the other arm are a pair (base == with) */
	size_t count;	   /* relabellings; the first is the real one */
	bool exact;	   /* these are all possible relabellings */
	uint64_t seed;	   /* for drawing */
	size_t bytes;	   /* size of a row of bits */
	uint8_t *bits;	   /* `count` rows with a bit per unit: it is in the other arm */
	/* number of powers of time that are subtracted from the values; see perm_plan_drift() */
	size_t trends;
	double *when;	      /* time of each unit, scaled to -1 to 1; NULL: too few units, or pairs */
	bool one_after_other; /* the arms in time: a drift would look like an effect */
};

/* Make a plan with at most `most` relabellings. 0, -EINVAL (an empty arm, arms of different sizes
 * for pairs, or more than PERM_UNITS) or -ENOMEM. */
int perm_plan_make(struct perm_plan *p, size_t base, size_t with, bool pairs, size_t most, uint64_t seed);
void perm_plan_free(struct perm_plan *p);

/*
 * Plan to subtract trends over time, such as of a machine that warms up, from the values before the
 * arms are compared. This is only done if trends can be distinguished from the arms: these must
 * alternate in time, and not be pairs. `when`: time of each unit, in any unit. The trend is a line
 * with 12 units, and a parabola with 16. Nothing is subtracted from a quantity that does not drift
 * (contrast_centre()). 0 or -ENOMEM.
 */
int perm_plan_drift(struct perm_plan *p, const double *when);

/* Is a unit in the other arm, under a relabelling? */
bool perm_label(const struct perm_plan *p, size_t i, size_t unit);

/* The share of a single relabelling among all: with a smaller alpha, that many units cannot show anything. */
double perm_least_p(size_t base, size_t with, bool pairs);

/* --- one quantity under one relabelling --- */

#define CONTRAST_ROUNDING 1e-9 /* statistics closer than this (relative) are equal */

/*
 * The units of a quantity that have a value. The mean is subtracted (this only affects rounding),
 * and so are the plan's trends if the values drift. Because there are tens of thousands of
 * relabellings, the sum over the units of the other arm is looked up in a table, for eight units at
 * a time.
 */
struct centred {
	const struct perm_plan *plan;
	double *value;	/* for pairs, their differences; 0 for a unit without a value */
	double *sums;	/* [index of a byte in a row][value of the byte] */
	uint8_t *there; /* one bit per unit (pair): it has a value */
	uint8_t *moved; /* the ones of these that really are in the other arm */
	size_t units, base, with;
	double total, squares; /* of the values */
	/* orthonormal trends; table of sums of them, and of the real labels, as above */
	size_t trends;
	double *trend[PERM_TRENDS], *trend_sums[PERM_TRENDS], *label_sums, label_scale;
};

/* A difference of means under a relabelling, the part of a real shift of 1 that it would contain,
 * and 1 / (1/n + 1/m). */
struct contrast {
	double difference, share, scale;
};

/* 0 or -ENOMEM; call contrast_free() in both cases. */
int contrast_centre(struct centred *c, const struct perm_plan *plan, const double *value);
void contrast_free(struct centred *c);

struct contrast contrast_of(const struct centred *c, size_t i);

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
