#include "judge/analysis/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/or_abort.h"
#include "judge/analysis/tally.h"

/* --- the passes after the first one --- */

/*
 * They narrow the quantiles whose bin contains several values, or
 * that lie outside of all bins, until they are exact.
 */

/* A quantile being searched for: its rank, a range that contains it, and the number of samples
 * below that range. */
struct search {
	uint64_t rank, before;
	struct range in;
};

static void search_in(struct search *s, const struct window *w)
{
	s->in = window_find(w, s->rank, &s->before);
}

/* After the first pass: the quantile is in a bin, or below or above all bins. */
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

/* Are all quantiles that are still searched for outside of the first window? */
static bool are_outside(const struct search *searches, const struct window *first)
{
	for (unsigned q = 0; q < QUANTILES; q++)
		if (!is_search_over(&searches[q]) && window_offset(first, searches[q].in.low) <= first->reach)
			return false;
	return true;
}

/* The passes after the first one: windows over the ranges that are still to be narrowed. All shares
 * use them for counting. */
struct refinement {
	struct tallies *all;
	bool is_kept; /* all values in these ranges were kept, so only they need to be counted */
	const struct window *first;
	uint8_t *is_open; /* for each bin of the first window: 1 if it contains such a range */
	struct window windows[QUANTILES];
	unsigned count;
};

static inline void count_in_all(struct refinement *r, int64_t value)
{
	for (unsigned j = 0; j < r->count; j++) {
		const struct window *w = &r->windows[j];
		uint64_t offset = window_offset(w, value);

		if (offset <= w->reach)
			__atomic_fetch_add(&w->counts[offset >> w->shift], 1, __ATOMIC_RELAXED);
	}
}

/* Almost no sample is in one of the ranges. Its bin in the first window tells, however many ranges
 * there are. */
static inline __attribute__((always_inline)) void count_span_again(struct span s, bool is_log, struct refinement *r,
								   struct kept *kept)
{
	struct window first = *r->first;
	const uint8_t *is_open = r->is_open;

	first.is_log = is_log; /* known at compile time */
	for (size_t i = 0; i < s.count; i++) {
		int64_t value;
		uint64_t offset;

		if (!span_sample(&s, i, &value))
			continue;
		offset = window_offset(&first, value);
		if (__builtin_expect(offset > first.reach || is_open[window_bin(&first, offset)], 0)) {
			count_in_all(r, value);
			if (kept)
				tally_keep(kept, value);
		}
	}
}

static void count_again(const struct span *s, struct refinement *r, struct kept *kept)
{
	if (r->first->is_log)
		count_span_again(*s, true, r, kept);
	else
		count_span_again(*s, false, r, kept);
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

/* A pass over everything keeps the values in the ranges for the following passes. */
static void count_share_again(unsigned share, void *arg)
{
	struct refinement *r = arg;
	struct tally *t = &r->all->of[share];
	const struct span kept = {t->kept.values, NULL, t->kept.count};

	if (r->is_kept) {
		count_again(&kept, r, NULL);
		return;
	}
	t->kept.count = 0;
	t->kept.is_all = t->kept.values;
	for (size_t k = 0; k < t->span_count; k++)
		count_again(&t->spans[k], r, &t->kept);
}

static bool is_all_kept(const struct tallies *all)
{
	bool is_all = true;

	for (unsigned i = 0; i < all->count; i++)
		is_all = is_all && all->of[i].kept.is_all;
	return is_all;
}

/* Narrow all unfinished searches by one pass. */
static int refine(struct search *searches, struct refinement *r)
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
	if (r->count)
		shares_run(r->all->count, count_share_again, r);
	for (unsigned q = 0; q < QUANTILES; q++)
		if (of[q])
			search_in(&searches[q], of[q]);
	return 0;
}

/* Sets the quantiles of `out`; consumes the values that `all` has kept. 0 or -ENOMEM. */
static int rank_search(struct tallies *all, struct stats *out)
{
	const struct window *first = &all->of[0].window;
	const struct moments *m = &all->of[0].moments;
	struct search searches[QUANTILES] = {0};
	struct refinement r = {.all = all, .first = first, .is_open = large_alloc(WINDOW_BINS, 1)};
	int rc = r.is_open ? 0 : -ENOMEM;

	for (unsigned q = 0; q < QUANTILES; q++) {
		out->has_quantile[q] = quantile_is_known(q, m->n);
		searches[q].rank = quantile_rank(q, m->n);
		if (out->has_quantile[q])
			search_start(&searches[q], first, m);
	}
	r.is_kept = is_all_kept(all) && are_outside(searches, first);
	while (!rc) {
		rc = refine(searches, &r);
		if (!r.count)
			break;
		r.is_kept = is_all_kept(all);
	}
	for (unsigned q = 0; q < QUANTILES; q++) {
		out->quantile[q] = searches[q].in.low;
		window_free(&r.windows[q]);
	}
	free(r.is_open);
	return rc;
}

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

const unsigned quantile_millionths[QUANTILES] = {
#define STATISTIC(...)
#define QUANTILE(id, label, millionths, ...) [Q##id] = millionths,
#include "judge/analysis/statistic_rows.def"
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

	return quantile_millionths[q] < 500000 ? rank > STATS_BEYOND : n - rank >= STATS_BEYOND;
}

double stats_normal_tail(double z)
{
	return 0.5 * erfc(z / M_SQRT2);
}

/* By bisection, which takes a few dozen steps and no tables. */
double stats_normal_quantile(double tail)
{
	double low = -10, high = 40;

	for (int i = 0; i < 100; i++) {
		double middle = (low + high) / 2;

		if (stats_normal_tail(middle) > tail)
			low = middle;
		else
			high = middle;
	}
	return low;
}
