/*
 * An exact permutation test of two arms, jointly over several quantities, and the intervals that
 * come of inverting it. Pure: numbers in, numbers out.
 *
 * The units (boots, or runs) of both arms are relabelled in every way that could have happened: any
 * of them in either arm, or, for pairs, each pair turned round or not. Where there are more ways
 * than PERM_MAX, that many are drawn (the real one is among them, so that p stays valid). A
 * quantity's statistic is Student's |t|, times its weight; the largest over all quantities, under
 * each relabelling, is what each of them is held against (max-T; Westfall and Young 1993): the
 * chance that any of them is found to differ where none does is at most alpha, whatever the
 * distributions and however quantities depend on each other.
 *
 * An interval holds the shifts that would not be rejected at the level which max-T leaves to its
 * quantity; its ends have a closed form (Tritchler 1984). It excludes 0 exactly where p <= alpha.
 */
#ifndef KBLAT_COMPARE_PERM_H
#define KBLAT_COMPARE_PERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERM_MAX   50000
#define PERM_UNITS 256 /* of both arms together */

struct perm_plan {
	size_t base, with; /* units of each arm; the first of a quantity's values are the base's */
	bool pairs;	   /* unit i of the base belongs to unit i of the other (base == with) */
	size_t count;	   /* relabellings; the first is the real one */
	bool exact;	   /* all there are */
	uint64_t seed;	   /* of those drawn */
	size_t bytes;	   /* of a row of bits */
	uint8_t *bits;	   /* count rows, a bit a unit: it is in the other arm */
};

/* At most `most` relabellings. 0, or -EINVAL (an empty arm; pairs of different counts; over
 * PERM_UNITS) or -ENOMEM. */
int perm_plan_make(struct perm_plan *p, size_t base, size_t with, bool pairs, size_t most, uint64_t seed);
void perm_plan_free(struct perm_plan *p);

/* Is a unit in the other arm, under a relabelling? */
bool perm_label(const struct perm_plan *p, size_t i, size_t unit);

/* The smallest p that so many units can give: below this no alpha can be reached. */
double perm_least_p(size_t base, size_t with, bool pairs);

struct perm_quantity {
	const double *value; /* one a unit; NaN: it has none */
	double weight;	     /* 1, or less for what is to stand out more */
	/* out */
	bool known; /* at least two units (one pair and another) in each arm */
	/* mean of the other arm - mean of the base; of pairs, the mean difference */
	double effect;
	double low, high;	      /* infinite where nothing can be excluded */
	double low_alone, high_alone; /* ends of this one alone: each errs in alpha of all cases */
	double p, p_alone;	      /* over all quantities; of this one alone */
	double level;		      /* what max-T leaves to this one alone */
};

/* 0 or -ENOMEM. */
int perm_judge(const struct perm_plan *p, struct perm_quantity *q, size_t count, double alpha);

/*
 * The noise floor: the 95th percentile of |difference of means| over the ways to split `count`
 * values into halves (of an odd count, as nearly). NaN with fewer than 4.
 */
double perm_noise_floor(const double *value, size_t count, uint64_t seed);

/* A sequence of seeded random numbers below `n`: SplitMix64 (Steele, Lea and Flood 2014). */
uint64_t perm_random(uint64_t *state, uint64_t n);

#endif
