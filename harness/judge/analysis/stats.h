/*
 * Exact statistics of differences of columns: lat[i] = t_recv[i] - t_subm[i].
 *
 * Quantiles are nearest-rank, sorted[ceil(p*n)-1]. They are exact to the nanosecond, whatever the
 * range, and null (has_quantile false) with fewer than STATS_BEYOND samples beyond them. min and max are the
 * true ones. Memory does not grow with the number of samples (less than 16 MiB besides the
 * columns): samples are counted in one-nanosecond bins over a window, and ranks outside of it are
 * found by further passes. tests/bench/ measures the cost (10 M samples).
 */
#ifndef KBLAT_ANALYSIS_STATS_H
#define KBLAT_ANALYSIS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "judge/analysis/span.h"

struct err;

/* Samples required on the outer side of a quantile: one with fewer beyond it is noise. Texts for people say 20, too. */
#define STATS_BEYOND 20

/* Q10 … Q99_99: judge/analysis/statistic_rows.def has a row for each. */
enum {
#define STATISTIC(...)
#define QUANTILE(id, ...) Q##id,
#include "judge/analysis/statistic_rows.def"
#undef STATISTIC
#undef QUANTILE
	QUANTILES
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

extern const unsigned quantile_millionths[QUANTILES];

/* The rank of quantile q among n samples: ceil(p * n), computed in integers because in floating
 * point 0.99 * n may be rounded to the wrong side. The second function tells whether at least 20
 * samples lie beyond it (below it for quantiles below the median). */
uint64_t quantile_rank(unsigned q, uint64_t n);
bool quantile_is_known(unsigned q, uint64_t n);

/* The probability that a standard normal distribution exceeds a value, and the value that it exceeds with a probability
 * (above 0 and below 1). */
double stats_normal_tail(double z);
double stats_normal_quantile(double tail);

#endif
