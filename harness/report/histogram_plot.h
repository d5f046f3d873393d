/*
 * The data for plots/histogram.gp: overlaid series, the first one in front.
 */
#ifndef KBLAT_REPORT_HISTOGRAM_PLOT_H
#define KBLAT_REPORT_HISTOGRAM_PLOT_H

#include "report/bins.h"
#include "report/figure.h"
#include "report/model.h"

struct histogram_plot {
	const struct report_series *const *series;
	const char *const *labels; /* of the series, for the key */
	size_t count;
	const struct report_item *items; /* whose losses and largest latency are given */
	size_t item_count;
	bool is_labelled; /* the box identifies series by their labels, not by their order */
	char *title;	  /* taken over */
};

/* Write the rest of a figure that has been begun: its table, below the heading, and its variables. */
void histogram_plot_write(struct figures *f, FILE *table, const struct histogram_plot *p);

#endif
