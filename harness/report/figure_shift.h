/*
 * Figures of shift functions, for figures_make().
 */
#ifndef KBLAT_REPORT_FIGURE_SHIFT_H
#define KBLAT_REPORT_FIGURE_SHIFT_H

#include "compare/compare_shift.h"
#include "report/figure.h"

struct shift_figure {
	size_t index;	  /* of the point */
	const char *flow; /* the point's flow; "": it has none */
	char *title, *subtitle;
	const char *metric;
	double margin_percent;
	bool any; /* is there anything to draw? */
	struct shift shift;
};

/* `figures`: an array of struct shift_figure that ends with a title of NULL. */
int figure_shift_add(struct figures *f, const void *figures, struct err *e);

#endif
