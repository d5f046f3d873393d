/*
 * A series of a repetition: the difference of two columns. It may be halved (for a round trip), or
 * sparse (with entries only for some messages).
 */
#ifndef KBLAT_ANALYSIS_SERIES_H
#define KBLAT_ANALYSIS_SERIES_H

#include "analysis/histogram.h"
#include "analysis/stats.h"
#include "rundir/rep.h"

/* The difference of columns that makes up a series. The repetition must be complete. */
struct span series_span(const struct rep *r, const struct layout_series *s);

/* The number of messages without an entry in a series because its `among` never happened. */
uint64_t series_absent(const struct rep *r, const struct layout_series *s);

/*
 * stats_compute() of a series. Halves are rounded down, one by one. This keeps their order, so
 * quantiles are exactly those of the halves; mean and standard deviation are halved without
 * rounding. Entries missing from a sparse series are not lost, nor are the `absent` messages, for
 * which the series has no entry (series_absent).
 */
int series_stats(const struct layout_series *s, const struct span *spans, size_t count, uint64_t absent, int64_t limit,
		 struct stats *out, struct err *e);

/* histogram_compute() of a series. */
int series_histogram(const struct layout_series *s, const struct span *spans, size_t count, size_t max_bins,
		     struct histogram *out, struct err *e);

#endif
