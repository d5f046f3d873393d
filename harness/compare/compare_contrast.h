/*
 * One quantity under one relabelling of its units (compare/compare_plan.h): the difference of the
 * arms' means, and how much of a real shift would be left in it. Pure.
 */
#ifndef KBLAT_COMPARE_CONTRAST_H
#define KBLAT_COMPARE_CONTRAST_H

#include "compare/compare_plan.h"

#define CONTRAST_ROUNDING 1e-9 /* statistics closer than this (relative) are equal */

/*
 * The units of a quantity that have a value, without the mean (which changes nothing but rounding)
 * and, where they drift, without the plan's trends. Sums over those in the other arm are looked up, eight units at a
 * time: there are tens of thousands of relabellings.
 */
struct centred {
	const struct perm_plan *plan;
	double *value;	/* of pairs, the differences; 0 for a unit that is not there */
	double *sums;	/* [byte of a row][its value] */
	uint8_t *there; /* one bit a unit (a pair) that has a value */
	uint8_t *moved; /* of these, those that really are in the other arm */
	size_t units, base, with;
	double total, squares; /* of the values */
	/* orthogonal, of length 1; sums of them and of the real labels, likewise */
	size_t trends;
	double *trend[PERM_TRENDS], *trend_sums[PERM_TRENDS], *label_sums, label_scale;
};

/* A difference of means under a relabelling, how much of a real shift of 1 would be left in it, and
 * 1 / (1/n + 1/m). */
struct contrast {
	double difference, share, scale;
};

/* 0 or -ENOMEM; contrast_free() in both cases. */
int contrast_centre(struct centred *c, const struct perm_plan *plan, const double *value);
void contrast_free(struct centred *c);

struct contrast contrast_of(const struct centred *c, size_t i);

#endif
