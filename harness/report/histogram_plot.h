/*
 * The data for plots/histogram.gp: overlaid series, the first one in front.
 */
#ifndef KBLAT_REPORT_HISTOGRAM_PLOT_H
#define KBLAT_REPORT_HISTOGRAM_PLOT_H

#include <stdint.h>
#include <stdio.h>

#include "report/figure.h"
#include "report/model.h"

#define BINS	    100
#define BINS_BELOW  0
#define BINS_BEYOND (BINS + 1)

/* Counts of one series: the first element is below the first bin, the last one beyond the last bin. */
struct bin_counts {
	uint64_t count[BINS + 2];
};

struct bins {
	int64_t low, width, high; /* ns; width 0: each is as many times as wide as the one before */
	struct bin_counts *of;	  /* one per series */
	size_t series_count;
};

/*
 * Make the bins. The first series must have been measured; the others need not.
 *
 * The width of bins is the smallest of 1, 2, 5, 10, ... ns for which they reach the limit (10 us:
 * 100 ns; 50 us: 500 ns). So figures with the same limit can be compared side by side, and what
 * lies beyond the bins is what over_limit counts. If that would hide most of the data, bins follow
 * the data instead: if more than a tenth of a series is beyond, the median of the first series is
 * in the first two bins, or values are below 0. If the median would then be in the first two bins all
 * the same, because another series reaches that much farther, their width grows logarithmically.
 */
void bins_make(struct bins *b, const struct report_series *const *series, size_t count, int64_t limit_ns);
void bins_free(struct bins *b);

/* The highest count of the bins from `first` (0 to BINS - 1) on; at least 1. */
uint64_t bins_peak(const struct bins *b, size_t first);

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
