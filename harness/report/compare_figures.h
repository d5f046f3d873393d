/*
 * The figures of a comparison's page, for figures_make(). Each function adds those of its kind. 0, or
 * a negative errno and `e`.
 */
#ifndef KBLAT_REPORT_COMPARE_FIGURES_H
#define KBLAT_REPORT_COMPARE_FIGURES_H

#include "judge/compare/compare_judge.h"
#include "judge/compare/comparison.h"
#include "report/figure.h"

/* All units in chronological order: one figure for each point whose units have values. */
int figure_boots_add(struct figures *f, const struct comparison *c, struct err *e);

/* The shift function of a point. */
struct shift_figure {
	size_t index;	  /* of the point */
	const char *flow; /* the point's flow; "": it has none */
	char *title, *subtitle;
	const char *metric;
	double margin[SHIFT_QUANTILES]; /* in per cent; NaN: the quantile is not judged */
	bool any;			/* is there anything to draw? */
	struct shift shift;
};

/* `figures`: an array of struct shift_figure that ends with a title of NULL. */
int figure_shift_add(struct figures *f, const void *figures, struct err *e);

#endif
