#include "analysis/quantile.h"

/* A quantile with fewer samples beyond it is noise. */
#define BEYOND 20

const unsigned quantile_millionths[QUANTILES] = {
#define STATISTIC(...)
#define QUANTILE(id, label, millionths, ...) [Q##id] = millionths,
#include "analysis/statistics.def"
#undef STATISTIC
#undef QUANTILE
};

uint64_t quantile_rank(unsigned q, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)n * quantile_millionths[q] + 999999) / 1000000);
}

bool quantile_is_known(unsigned q, uint64_t n)
{
	const uint64_t rank = quantile_rank(q, n);

	return quantile_millionths[q] < 500000 ? rank > BEYOND : n - rank >= BEYOND;
}
