/*
 * What plots/histogram.gp draws: series over each other, the first in front.
 */
#ifndef KBLAT_REPORT_HISTOGRAM_PLOT_H
#define KBLAT_REPORT_HISTOGRAM_PLOT_H

#include "report/bins.h"
#include "report/figure.h"
#include "report/model.h"

struct histogram_plot {
	const struct report_series *const *series;
	const char *const *labels; /* of the series, in the key */
	size_t count;
	const struct report_item *items; /* whose losses and largest latency are said */
	size_t item_count;
	bool is_labelled; /* the box names series by their labels, not by their order */
	char *title;	  /* taken */
};

/* Of a figure that was begun: the rest of its table, below the heading, and its variables. */
void histogram_plot_write(struct figures *f, FILE *table, const struct histogram_plot *p);

#endif
