#include "analysis/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/span.h"
#include "analysis/window.h"
#include "common/err.h"

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

/*
 * What one pass finds beside the counts. Sums are of (value - base), so that they stay exact and
 * small: `sum` fits whatever comes, `squares` may wrap for ranges of days (see deviations()).
 */
struct moments {
	int64_t base;
	uint64_t n, lost, below, above, over;
	int64_t min, max;
	__int128 sum;
	unsigned __int128 squares;
};

/* What is outside the first window, kept while it is little: its quantiles are looked for in there,
 * without a pass over everything. */
#ifndef STATS_KEPT_MAX
#define STATS_KEPT_MAX ((size_t)1 << 19)
#endif

struct kept {
	int64_t *values; /* STATS_KEPT_MAX */
	size_t count;
	bool is_all;
};

static void keep_outside(struct kept *k, int64_t value)
{
	/* No span has a place for the value that means "never". */
	k->is_all = k->is_all && k->count < STATS_KEPT_MAX && value != NEVER;
	if (k->is_all)
		k->values[k->count++] = value;
}

/* `times` samples of one value, and what they add to the sums. */
static inline void moments_add(struct moments *m, int64_t value, int64_t limit, uint64_t times, __int128 sum,
			       unsigned __int128 squares)
{
	m->sum += sum;
	m->squares += squares;
	m->over += value > limit ? times : 0;
	m->min = value < m->min ? value : m->min;
	m->max = value > m->max ? value : m->max;
}

static inline void moments_inside(struct moments *m, uint64_t offset, int64_t limit, uint64_t times)
{
	int64_t value = (int64_t)((uint64_t)m->base + offset);

	moments_add(m, value, limit, times, (unsigned __int128)offset * times,
		    (unsigned __int128)offset * offset * times);
}

static void moments_outside(struct moments *m, struct kept *k, int64_t value, int64_t limit)
{
	__int128 v = (__int128)value - m->base;
	unsigned __int128 magnitude = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;

	m->below += value < m->base;
	m->above += value > m->base;
	moments_add(m, value, limit, 1, v, magnitude * magnitude);
	keep_outside(k, value);
}

/*
 * The first pass, over everything. Where a bin is one value, what falls into the window is only
 * counted here, and its moments are taken from the bins afterwards: the loop is then two loads, a
 * subtraction and an increment.
 */
static inline __attribute__((always_inline)) void count_span(const struct span *s, struct window *w, int64_t limit,
							     bool is_log, struct moments *out, struct kept *k)
{
	const struct window here = *w;
	struct moments m = *out;

	for (size_t i = 0; i < s->count; i++) {
		int64_t value;
		uint64_t offset;

		if (!span_sample(s, i, &value)) {
			m.lost++;
			continue;
		}
		offset = window_offset(&here, value);
		if (__builtin_expect(offset > here.reach, 0)) {
			moments_outside(&m, k, value, limit);
			continue;
		}
		here.counts[is_log ? window_log_bin(offset) : offset]++;
		if (is_log)
			moments_inside(&m, offset, limit, 1);
	}
	m.n += s->count;
	*out = m;
}

static void moments_from_bins(struct moments *m, const struct window *w, int64_t limit)
{
	for (size_t i = 0; i <= w->reach; i++)
		if (w->counts[i])
			moments_inside(m, i, limit, w->counts[i]);
}

static void first_pass(const struct span *spans, size_t span_count, struct window *w, int64_t limit, struct moments *m,
		       struct kept *kept)
{
	*m = (struct moments){.base = w->base, .min = INT64_MAX, .max = INT64_MIN};
	for (size_t k = 0; k < span_count; k++) {
		if (w->is_log)
			count_span(&spans[k], w, limit, true, m, kept);
		else
			count_span(&spans[k], w, limit, false, m, kept);
	}
	m->n -= m->lost;
	if (!w->is_log)
		moments_from_bins(m, w, limit);
}

/* Sum of squared distances from the mean, where the exact sum of squares does not fit 128 bits: one
 * more pass, in 64 bits of mantissa. */
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
		 * 2^128, so wrapping on the way does no harm. */
		unsigned __int128 about = m->squares - (unsigned __int128)whole * (unsigned __int128)(m->sum + rest);

		square = (long double)about - (long double)rest * fraction;
	} else {
		square = deviations(spans, span_count, (long double)(m->base + whole) + fraction);
	}
	out->stdev = (double)sqrtl(square / (long double)(m->n - 1));
}

/* A quantile being looked for: its rank, a range that holds it, and how many samples are below that
 * range. */
struct search {
	uint64_t rank, before;
	struct range in;
};

static void search_in(struct search *s, const struct window *w)
{
	s->in = window_find(w, s->rank, &s->before);
}

/* After the first pass: in a bin, or below or above all of them. */
static void search_start(struct search *s, const struct window *w, const struct moments *m)
{
	if (s->rank <= m->below) {
		s->in = (struct range){m->min, w->base - 1};
	} else if (s->rank > m->n - m->above) {
		s->before = m->n - m->above;
		s->in = (struct range){(int64_t)((uint64_t)w->base + w->reach + 1), m->max};
	} else {
		s->before = m->below;
		search_in(s, w);
	}
}

static bool is_search_over(const struct search *s)
{
	return s->in.low == s->in.high;
}

/* Is all that is still looked for outside of the first window? */
static bool are_outside(const struct search *searches, const struct window *first)
{
	for (unsigned q = 0; q < QUANTILES; q++)
		if (!is_search_over(&searches[q]) && window_offset(first, searches[q].in.low) <= first->reach)
			return false;
	return true;
}

/* The passes after the first: windows over the ranges still open. */
struct refinement {
	const struct window *first;
	uint8_t *is_open; /* of each bin of the first: 1 if it holds such a range */
	struct window windows[QUANTILES];
	unsigned count;
};

static inline void count_in_all(struct refinement *r, int64_t value)
{
	for (unsigned j = 0; j < r->count; j++) {
		const struct window *w = &r->windows[j];
		uint64_t offset = window_offset(w, value);

		if (offset <= w->reach)
			w->counts[offset >> w->shift]++;
	}
}

/* Hardly any sample is in one of the ranges: one look at the first window's bin tells, however many
 * ranges there are. */
static void count_again(const struct span *s, struct refinement *r)
{
	const struct window first = *r->first;
	const uint8_t *is_open = r->is_open;

	for (size_t i = 0; i < s->count; i++) {
		int64_t value;
		uint64_t offset;

		if (!span_sample(s, i, &value))
			continue;
		offset = window_offset(&first, value);
		if (__builtin_expect(offset > first.reach || is_open[window_bin(&first, offset)], 0))
			count_in_all(r, value);
	}
}

/* The window over a range; quantiles that share a range share it. NULL: no memory. */
static struct window *window_over(struct refinement *r, const struct range *in)
{
	struct window *w = r->windows;
	uint64_t offset = window_offset(r->first, in->low);

	for (; w < r->windows + r->count; w++)
		if (w->base == in->low && w->reach == (uint64_t)in->high - (uint64_t)in->low)
			return w;
	if (!w->counts && window_alloc(w))
		return NULL;
	window_place(w, *in);
	r->count++;
	if (offset <= r->first->reach)
		r->is_open[window_bin(r->first, offset)] = 1;
	return w;
}

/* Narrow all searches that are still open by one pass. */
static int refine(const struct span *spans, size_t span_count, struct search *searches, struct refinement *r)
{
	struct window *of[QUANTILES] = {NULL};

	r->count = 0;
	for (unsigned q = 0; q < QUANTILES; q++) {
		if (is_search_over(&searches[q]))
			continue;
		of[q] = window_over(r, &searches[q].in);
		if (!of[q])
			return -ENOMEM;
	}
	for (size_t k = 0; r->count && k < span_count; k++)
		count_again(&spans[k], r);
	for (unsigned q = 0; q < QUANTILES; q++)
		if (of[q])
			search_in(&searches[q], of[q]);
	return 0;
}

static int find_quantiles(const struct span *spans, size_t span_count, const struct window *first,
			  const struct moments *m, const struct kept *kept, struct stats *out)
{
	const struct span outside = {kept->values, NULL, kept->count};
	struct search searches[QUANTILES] = {0};
	struct refinement r = {.first = first, .is_open = calloc(WINDOW_BINS, 1)};
	int rc = r.is_open ? 0 : -ENOMEM;

	for (unsigned q = 0; q < QUANTILES; q++) {
		out->has_quantile[q] = quantile_is_known(q, m->n);
		searches[q].rank = quantile_rank(q, m->n);
		if (out->has_quantile[q])
			search_start(&searches[q], first, m);
	}
	while (!rc) {
		rc = kept->is_all && are_outside(searches, first) ? refine(&outside, 1, searches, &r)
								  : refine(spans, span_count, searches, &r);
		if (!r.count)
			break;
	}
	for (unsigned q = 0; q < QUANTILES; q++) {
		out->quantile[q] = searches[q].in.low;
		window_free(&r.windows[q]);
	}
	free(r.is_open);
	return rc;
}

int stats_compute(const struct span *spans, size_t span_count, int64_t limit, struct stats *out, struct err *e)
{
	struct kept kept = {.values = malloc(STATS_KEPT_MAX * sizeof(*kept.values))};
	struct window first;
	struct moments m;
	int rc;

	memset(out, 0, sizeof(*out));
	rc = window_alloc(&first);
	if (rc)
		goto out;
	kept.is_all = kept.values;
	window_place_guessed(&first, spans, span_count);
	first_pass(spans, span_count, &first, limit, &m, &kept);
	out->n = m.n;
	out->lost = m.lost;
	if (m.n) {
		out->min = m.min;
		out->max = m.max;
		out->over_limit = (double)m.over / (double)m.n;
		mean_and_stdev(spans, span_count, &m, out);
		rc = find_quantiles(spans, span_count, &first, &m, &kept, out);
	}
out:
	window_free(&first);
	free(kept.values);
	return rc ? err_sys(e, rc, NULL, "compute quantiles") : 0;
}
