/*
 * Exact statistics of differences of columns: lat[i] = t_recv[i] - t_subm[i].
 *
 * Quantiles are nearest-rank, sorted[ceil(p*n)-1]. They are exact to the nanosecond, whatever the
 * range, and null (has_quantile false) with fewer than 20 samples beyond them. min and max are the
 * true ones. Memory does not grow with the number of samples (less than 16 MiB besides the
 * columns): samples are counted in one-nanosecond bins over a window, and ranks outside of it are
 * found by further passes. tests/bench/ measures the cost (10 M samples).
 */
#ifndef KBLAT_ANALYSIS_STATS_H
#define KBLAT_ANALYSIS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/quantile.h"

struct err;

/* The samples of one repetition: a[i] - b[i], or a[i] if b is NULL. If either is NEVER, the sample
 * is lost. A difference that does not fit in 64 bits counts as the nearest value that does. */
struct span {
	const int64_t *a, *b;
	size_t count;
};

struct stats {
	uint64_t n;	  /* samples that exist */
	uint64_t lost;	  /* NEVER */
	int64_t min, max; /* n > 0 */
	bool has_quantile[QUANTILES];
	int64_t quantile[QUANTILES];
	double mean;
	/* sample standard deviation (n - 1); 0 for n < 2. From exact sums (128 bits) in nanoseconds */
	double stdev;
	double over_limit; /* share of n above the limit; 0 if n is 0 */
};

/* 0, or -ENOMEM. */
int stats_compute(const struct span *spans, size_t span_count, int64_t limit, struct stats *out, struct err *e);

#endif
