/*
 * Exact statistics of differences of columns: lat[i] = t_recv[i] - t_subm[i].
 *
 * Quantiles are nearest rank, sorted[ceil(p*n)-1], exact to the nanosecond whatever the range, and
 * null (has_quantile false) with fewer than 20 samples beyond them. min and max are the true ones.
 * Memory does not grow with the number of samples (under 16 MiB beside the columns): counting into
 * one-nanosecond bins over a window; ranks that fall outside are refined by further passes. Cost:
 * measured by tests/bench/ (10 M samples).
 */
#ifndef KBLAT_ANALYSIS_STATS_H
#define KBLAT_ANALYSIS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/quantile.h"

struct err;

/* One repetition's contribution: a[i] - b[i]; b may be NULL (the values are a's). NEVER in either:
 * lost. A difference that does not fit 64 bits counts as the nearest value that does. */
struct span {
	const int64_t *a, *b;
	size_t count;
};

struct stats {
	uint64_t n;	  /* samples that happened */
	uint64_t lost;	  /* NEVER */
	int64_t min, max; /* n > 0 */
	bool has_quantile[QUANTILES];
	int64_t quantile[QUANTILES];
	double mean;
	/* of a sample (n - 1); 0 for n < 2. Exact sums (128 bits), never through a coarser unit */
	double stdev;
	double over_limit; /* share of n above the limit; 0 if n is 0 */
};

/* 0, or -ENOMEM. */
int stats_compute(const struct span *spans, size_t span_count, int64_t limit, struct stats *out, struct err *e);

#endif
