/*
 * The page of a study of knobs: derived/report.html, with a figure of each knob's effect alone and when it is left out.
 */
#ifndef KBLAT_KNOBS_PAGE_H
#define KBLAT_KNOBS_PAGE_H

#include <stdio.h>

#include "study/knobs/knobs_types.h"

/* 0 or a negative errno and `e`; without gnuplot the page has no figure (STATUS_IMPOSSIBLE). */
int knobs_page_make(const struct study *s, struct err *e);

/*
 * The result for people: a line per knob, the knobs not tested and why, the smallest profile.
 */
/* For each comparison, the most significant quantity is shown. */
void knobs_table(const struct study *s, FILE *out);

/* The most significant quantity of a comparison (NULL: it was not judged): the smallest p, then the largest effect.
 * `*point` is the point that it belongs to. NULL: there is none. */
const struct comparison_quantity *knobs_clearest(const struct comparison *c, const struct comparison_point **point);

/* The joint interval of a quantity, in per cent, or in percentage points for a share. If one of its ends is infinite,
 * returns true and the interval of the quantity alone, whose ends may be infinite (NaN), too. */
bool knobs_interval(const struct comparison_quantity *q, double *low, double *high);

#endif
