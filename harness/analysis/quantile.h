/*
 * Which quantiles there are, and the ranks that they are.
 */
#ifndef KBLAT_ANALYSIS_QUANTILE_H
#define KBLAT_ANALYSIS_QUANTILE_H

#include <stdbool.h>
#include <stdint.h>

/* Q10 … Q99_99: analysis/statistics.def has a row for each. */
enum {
#define STATISTIC(...)
#define QUANTILE(id, ...) Q##id,
#include "analysis/statistics.def"
#undef STATISTIC
#undef QUANTILE
	QUANTILES
};
extern const unsigned quantile_millionths[QUANTILES];

/* The rank of quantile q among n samples, ceil(p * n) in integers (in floating point 0.99 * n may
 * land on the wrong side); and whether at least 20 samples lie beyond it
 * (below it, for one below the median). */
uint64_t quantile_rank(unsigned q, uint64_t n);
bool quantile_is_known(unsigned q, uint64_t n);

#endif
