/*
 * The ways in which the units (boots, or runs) of two arms could have been labelled: any of them in
 * either arm, or, for pairs, each pair turned round or not. Where there are more ways than PERM_MAX,
 * that many are drawn (the real one is among them, so that p stays valid). Pure.
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
	bool pairs;	   /* unit i of the base belongs to unit i of the other (base == with) */
	size_t count;	   /* relabellings; the first is the real one */
	bool exact;	   /* all there are */
	uint64_t seed;	   /* of those drawn */
	size_t bytes;	   /* of a row of bits */
	uint8_t *bits;	   /* count rows, a bit a unit: it is in the other arm */
	/* powers of time that are taken out of the values; perm_plan_drift() */
	size_t trends;
	double *when; /* of each unit, -1 to 1 */
};

/* At most `most` relabellings. 0, or -EINVAL (an empty arm; pairs of different counts; over
 * PERM_UNITS) or -ENOMEM. */
int perm_plan_make(struct perm_plan *p, size_t base, size_t with, bool pairs, size_t most, uint64_t seed);
void perm_plan_free(struct perm_plan *p);

/*
 * What is slow in time (a machine that warms up) is taken out of the values before the arms are
 * compared, where it can be told from the arms: they alternated in time, and are no pairs. `when`:
 * of each unit, in any unit. With 12 units the trend is a line, with 16 a parabola; of a quantity that
 * does not drift nothing is taken out (compare_contrast.h). 0 or -ENOMEM.
 */
int perm_plan_drift(struct perm_plan *p, const double *when);

/* Is a unit in the other arm, under a relabelling? */
bool perm_label(const struct perm_plan *p, size_t i, size_t unit);

/* The share of one relabelling: at a smaller alpha so many units can show nothing. */
double perm_least_p(size_t base, size_t with, bool pairs);

/* The bits of a relabelling, `bytes` long. */
const uint8_t *perm_row(const struct perm_plan *p, size_t i);

#endif
