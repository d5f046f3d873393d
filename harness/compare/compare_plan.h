/*
 * The ways in which the units (boots or runs) of two arms could have been labelled: any of them in
 * either arm, or for pairs, each pair swapped or not. If there are more than PERM_MAX ways, that
 * many are drawn, including the real one so that p stays valid. Pure.
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
 * (compare_contrast.h). 0 or -ENOMEM.
 */
int perm_plan_drift(struct perm_plan *p, const double *when);

/* Is a unit in the other arm, under a relabelling? */
bool perm_label(const struct perm_plan *p, size_t i, size_t unit);

/* The share of a single relabelling among all: with a smaller alpha, that many units cannot show anything. */
double perm_least_p(size_t base, size_t with, bool pairs);

/* The bits of a relabelling, `bytes` long. */
const uint8_t *perm_row(const struct perm_plan *p, size_t i);

#endif
