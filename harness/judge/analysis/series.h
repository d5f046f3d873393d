/*
 * A series of a repetition: the difference of two columns. It may be halved (for a round trip), or
 * sparse (with entries only for some messages).
 */
#ifndef KBLAT_ANALYSIS_SERIES_H
#define KBLAT_ANALYSIS_SERIES_H

#include "files/rundir/layout.h"
#include "files/rundir/rep.h"
#include "judge/analysis/histogram.h"
#include "judge/analysis/stats.h"

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

/*
 * Loss of flows without a column of receptions (layout_flow.counts_loss): the messages that both
 * sides posted, minus those that both received.
 */
struct counted_loss {
	json_int_t sent, lost;
};

/* Of `count` repetitions. If the sink does not receive anything by design, nothing is lost. */
struct counted_loss counted_loss(const struct layout_flow *f, const struct rep *reps, size_t count);

/* The statistics of a series, computed from the columns in `dir`, the folder of a flow's control repetition. Control
 * repetitions are measured once, without the instrumentation whose influence they show, and
 * stored in a folder of their own. */
int control_stats(const char *dir, const struct layout_flow *f, const struct layout_series *s, struct stats *out,
		  struct err *e);

#endif
