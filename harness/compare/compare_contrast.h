/*
 * One quantity under one relabelling of its units (compare/compare_plan.h): the difference of the
 * arms' means, and the share of a real shift that it would contain. Pure.
 */
#ifndef KBLAT_COMPARE_CONTRAST_H
#define KBLAT_COMPARE_CONTRAST_H

#include "compare/compare_plan.h"

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
