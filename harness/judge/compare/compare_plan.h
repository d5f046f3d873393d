/*
 * The ways in which the units (boots or runs) of two arms could have been labelled: any of them in
 * either arm, or for pairs, each pair swapped or not. If there are more than PERM_MAX ways, that
 * many are drawn, including the real one so that p stays valid. And the difference of the arms' means
 * of one quantity under one of these relabellings. Pure.
 */
#ifndef KBLAT_COMPARE_PLAN_H
#define KBLAT_COMPARE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	double *when; /* time of each unit, scaled to -1 to 1 */
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

#endif
