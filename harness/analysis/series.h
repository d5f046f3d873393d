/*
 * A series of a repetition: the difference of two columns, and what it adds to that: half of it (a
 * round trip's), or entries only where they were asked for.
 */
#ifndef KBLAT_ANALYSIS_SERIES_H
#define KBLAT_ANALYSIS_SERIES_H

#include "analysis/histogram.h"
#include "analysis/stats.h"
#include "rundir/rep.h"

/* The difference of columns that a series is. The repetition must be whole. */
struct span series_span(const struct rep *r, const struct layout_series *s);

/* The messages that a series has no entry for, because its `among` never happened. */
uint64_t series_absent(const struct rep *r, const struct layout_series *s);

/*
 * stats_compute() of a series. Halves are rounded down, one by one; order is kept, so quantiles are
 * exactly those of the halves; mean and stdev are half of what they would be, without the rounding.
 * Of a sparse series nothing is lost; nor are the `absent` messages, which the series has no entry
 * for (series_absent).
 */
int series_stats(const struct layout_series *s, const struct span *spans, size_t count, uint64_t absent, int64_t limit,
		 struct stats *out, struct err *e);

/* histogram_compute() of a series. */
int series_histogram(const struct layout_series *s, const struct span *spans, size_t count, size_t max_bins,
		     struct histogram *out, struct err *e);

#endif
