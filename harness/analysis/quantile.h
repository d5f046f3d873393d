/*
 * The quantiles, and their ranks.
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

/* The rank of quantile q among n samples: ceil(p * n), computed in integers because in floating
 * point 0.99 * n may be rounded to the wrong side. The second function tells whether at least 20
 * samples lie beyond it (below it for quantiles below the median). */
uint64_t quantile_rank(unsigned q, uint64_t n);
bool quantile_is_known(unsigned q, uint64_t n);

#endif
