#include "analysis/stats.h"

#include <math.h>
#include <string.h>

#include "analysis/rank_search.h"
#include "analysis/span.h"
#include "analysis/tally.h"
#include "common/err.h"

/* The sum of squared distances from the mean, if the exact sum of squares does not fit in 128 bits:
 * another pass, with a mantissa of 64 bits. */
static long double deviations(const struct span *spans, size_t span_count, long double mean)
{
	long double sum = 0;
	int64_t value;

	for (size_t k = 0; k < span_count; k++)
		for (size_t i = 0; i < spans[k].count; i++)
			if (span_sample(&spans[k], i, &value))
				sum += ((long double)value - mean) * ((long double)value - mean);
	return sum;
}

static unsigned bits_of(uint64_t v)
{
	return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

static bool squares_fit(const struct moments *m)
{
	uint64_t down = m->min < m->base ? (uint64_t)m->base - (uint64_t)m->min : 0;
	uint64_t up = m->max > m->base ? (uint64_t)m->max - (uint64_t)m->base : 0;

	return 2 * bits_of(down > up ? down : up) + bits_of(m->n) <= 128;
}

static void mean_and_stdev(const struct span *spans, size_t span_count, const struct moments *m, struct stats *out)
{
	__int128 n = m->n, whole = m->sum / n, rest = m->sum % n;
	long double fraction = (long double)rest / (long double)m->n, square;

	out->mean = (double)((long double)(m->base + whole) + fraction);
	if (m->n < 2)
		return;
	if (squares_fit(m)) {
		/* Sum of (v - whole)^2 = squares - whole * (sum + rest): not negative and below
		 * 2^128, so intermediate results may wrap. */
		unsigned __int128 about = m->squares - (unsigned __int128)whole * (unsigned __int128)(m->sum + rest);

		square = (long double)about - (long double)rest * fraction;
	} else {
		square = deviations(spans, span_count, (long double)(m->base + whole) + fraction);
	}
	out->stdev = (double)sqrtl(square / (long double)(m->n - 1));
}

int stats_compute(const struct span *spans, size_t span_count, int64_t limit, struct stats *out, struct err *e)
{
	struct tallies all;
	const struct moments *m;
	int rc = tallies_open(&all, spans, span_count, limit);

	memset(out, 0, sizeof(*out));
	if (rc)
		goto out;
	tallies_count(&all, spans, span_count);
	m = &all.of[0].moments;
	out->n = m->n;
	out->lost = m->lost;
	if (m->n) {
		out->min = m->min;
		out->max = m->max;
		out->over_limit = (double)m->over / (double)m->n;
		mean_and_stdev(spans, span_count, m, out);
		rc = rank_search(&all, out);
	}
out:
	tallies_close(&all);
	return rc ? err_sys(e, rc, NULL, "compute quantiles") : 0;
}
