#include "judge/analysis/stats.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/npy.h"
#include "common/or_abort.h"
#include "judge/analysis/span.h"
#include "judge/analysis/window.h"

/* --- counted samples --- */

/*
 * The first pass over all samples. Counts them in a window of bins, with as many threads as are
 * worthwhile, and computes the moments that do not need a second pass.
 */

#define SHARES_MAX 4 /* threads; the memory for counts is proportional to it */

/*
 * What one pass computes besides the counts. Sums are of (value - base), so that they stay exact
 * and small: `sum` always fits, `squares` may wrap for ranges of days (see deviations()).
 */
struct moments {
	int64_t base;
	uint64_t n, lost, below, above, over;
	int64_t min, max;
	__int128 sum;
	unsigned __int128 squares;
};

/* Values of which some will be needed again: first those outside the window, then those in the
 * ranges that are still to be narrowed. They are kept as long as there are few, which saves a pass
 * over everything. */
struct kept {
	int64_t *values;
	size_t count, room;
	bool is_all;
};

static inline void keep_value(struct kept *k, int64_t value)
{
	/* A span cannot hold the value that means "never". */
	k->is_all = k->is_all && k->count < k->room && value != NEVER;
	if (k->is_all)
		k->values[k->count++] = value;
}

/* The results of one thread for its share of the samples. */
struct sample_counts {
	struct span *spans;
	size_t span_count;
	struct window window; /* in the same place for all */
	struct moments moments;
	struct kept kept;
};

struct all_counts {
	struct sample_counts of[SHARES_MAX];
	unsigned count;
	int64_t limit;
	struct span *spans; /* of all shares */
	int64_t *kept;
};

/* --- shares --- */

/*
 * Samples are divided between threads, so that a pass over many millions uses several of the CPUs
 * available to the process. Each share has its own spans, and only its own thread accesses the
 * memory that it counts in.
 */

/* Counting this many takes a millisecond; starting a thread takes a tenth of that. */
#define SHARES_EACH ((size_t)1 << 20)

/* The number of threads for `samples` samples: 1 if starting more would take longer than they save. */
static unsigned shares_for(size_t samples)
{
	size_t shares = samples / SHARES_EACH;
	cpu_set_t cpus;

	if (shares < 2 || sched_getaffinity(0, sizeof(cpus), &cpus))
		return 1;
	if (shares > (size_t)CPU_COUNT(&cpus))
		shares = (size_t)CPU_COUNT(&cpus);
	return (unsigned)(shares < SHARES_MAX ? shares : SHARES_MAX);
}

/* Write share number `share` of `count` of `spans` to `out`, which has room for `span_count` spans.
 * Returns the number of spans in it. */
static size_t shares_deal(const struct span *spans, size_t span_count, unsigned share, unsigned count, struct span *out)
{
	const size_t total = span_total(spans, span_count), first = total / count * share;
	const size_t end = share + 1 == count ? total : total / count * (share + 1);
	size_t begun = 0, dealt = 0;

	for (size_t k = 0; k < span_count; begun += spans[k++].count) {
		size_t from = first > begun ? first - begun : 0;
		size_t to = end > begun ? end - begun : 0;

		to = to < spans[k].count ? to : spans[k].count;
		if (from < to)
			out[dealt++] =
			    (struct span){spans[k].a + from, spans[k].b ? spans[k].b + from : NULL, to - from};
	}
	return dealt;
}

struct shares_thread {
	pthread_t thread;
	bool is_running;
	unsigned share;
	void (*work)(unsigned share, void *arg);
	void *arg;
};

static void *run_share(void *arg)
{
	const struct shares_thread *t = arg;

	t->work(t->share, t->arg);
	return NULL;
}

/* Call work(share, arg) for each share in parallel, and return when all are done. If a thread
 * cannot be started, the calling thread does its work. */
static void shares_run(unsigned count, void (*work)(unsigned share, void *arg), void *arg)
{
	struct shares_thread threads[SHARES_MAX];

	for (unsigned i = 1; i < count; i++) {
		threads[i] = (struct shares_thread){.share = i, .work = work, .arg = arg};
		threads[i].is_running = !pthread_create(&threads[i].thread, NULL, run_share, &threads[i]);
	}
	work(0, arg);
	for (unsigned i = 1; i < count; i++)
		if (threads[i].is_running)
			pthread_join(threads[i].thread, NULL);
		else
			work(i, arg);
}

#ifndef STATS_KEPT_MAX
#define STATS_KEPT_MAX ((size_t)1 << 19)
#endif

/* `times` samples of one value, and what they add to the sums. */
static inline void moments_add(struct moments *m, int64_t value, int64_t limit, uint64_t times, __int128 sum,
			       unsigned __int128 squares)
{
	m->sum += sum;
	m->squares += squares;
	m->over += value > limit ? times : 0;
	/* Rare, so a predicted branch costs less than two conditional moves. */
	if (__builtin_expect(value < m->min, 0))
		m->min = value;
	if (__builtin_expect(value > m->max, 0))
		m->max = value;
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
	keep_value(k, value);
}

/*
 * The first pass, over everything. If each bin is a single value, samples inside the window are
 * only counted here, and their moments are computed from the bins afterwards. The loop then
 * consists of two loads, a subtraction and an increment.
 */
static inline __attribute__((always_inline)) void count_span(struct span s, struct window *w, int64_t limit,
							     bool is_log, struct moments *out, struct kept *k)
{
	const struct window here = *w;
	struct moments m = *out;

	for (size_t i = 0; i < s.count; i++) {
		int64_t value;
		uint64_t offset;

		if (!span_sample(&s, i, &value)) {
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
	m.n += s.count;
	*out = m;
}

static void moments_from_bins(struct moments *m, const struct window *w, int64_t limit)
{
	for (size_t i = 0; i <= w->reach; i++)
		if (w->counts[i])
			moments_inside(m, i, limit, w->counts[i]);
}

static void first_pass(unsigned share, void *arg)
{
	struct all_counts *all = arg;
	struct sample_counts *t = &all->of[share];

	t->moments = (struct moments){.base = t->window.base, .min = INT64_MAX, .max = INT64_MIN};
	for (size_t k = 0; k < t->span_count; k++)
		if (t->window.is_log)
			count_span(t->spans[k], &t->window, all->limit, true, &t->moments, &t->kept);
		else
			count_span(t->spans[k], &t->window, all->limit, false, &t->moments, &t->kept);
}

static void moments_join(struct moments *m, const struct moments *other)
{
	m->n += other->n;
	m->lost += other->lost;
	m->below += other->below;
	m->above += other->above;
	m->over += other->over;
	m->sum += other->sum;
	m->squares += other->squares;
	m->min = other->min < m->min ? other->min : m->min;
	m->max = other->max > m->max ? other->max : m->max;
}

/* Add the results of all to those of the first. */
static void all_counts_join(struct all_counts *all)
{
	struct sample_counts *first = &all->of[0];

	for (unsigned i = 1; i < all->count; i++) {
		moments_join(&first->moments, &all->of[i].moments);
		for (size_t bin = 0; bin < window_bins(&first->window); bin++)
			first->window.counts[bin] += all->of[i].window.counts[bin];
	}
	first->moments.n -= first->moments.lost;
	if (!first->window.is_log)
		moments_from_bins(&first->moments, &first->window, all->limit);
}

/* Divide `spans` between threads. 0 or -ENOMEM; close in any case. */
static int all_counts_open(struct all_counts *all, const struct span *spans, size_t span_count, int64_t limit)
{
	const size_t samples = span_total(spans, span_count),
		     kept = samples < STATS_KEPT_MAX ? samples : STATS_KEPT_MAX;
	int rc = 0;

	memset(all, 0, sizeof(*all));
	all->limit = limit;
	all->count = shares_for(samples);
	all->spans = large_alloc(all->count * span_count + 1, sizeof(*all->spans));
	all->kept = large_alloc(kept + 1, sizeof(*all->kept));
	if (!all->spans)
		return -ENOMEM;
	for (unsigned i = 0; !rc && i < all->count; i++) {
		struct sample_counts *t = &all->of[i];
		size_t room = kept / all->count;

		t->spans = all->spans + i * span_count;
		t->span_count = shares_deal(spans, span_count, i, all->count, t->spans);
		t->kept = (struct kept){all->kept ? all->kept + i * room : NULL, 0, room, all->kept};
		rc = window_alloc(&t->window);
	}
	return rc;
}

static void all_counts_close(struct all_counts *all)
{
	for (unsigned i = 0; i < all->count; i++)
		window_free(&all->of[i].window);
	free(all->spans);
	free(all->kept);
}

/* Make the pass. Afterwards the first of them has the results of all, except for the values that each
 * has kept. */
static void count_all(struct all_counts *all, const struct span *spans, size_t span_count)
{
	struct window *first = &all->of[0].window;

	window_place_guessed(first, spans, span_count);
	for (unsigned i = 1; i < all->count; i++)
		window_place_as(&all->of[i].window, first);
	shares_run(all->count, first_pass, all);
	all_counts_join(all);
}

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
	struct all_counts *all;
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
				keep_value(kept, value);
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
	window_place_small(w, *in, r->all->of[0].moments.n);
	r->count++;
	if (offset <= r->first->reach)
		r->is_open[window_bin(r->first, offset)] = 1;
	return w;
}

/* A pass over everything keeps the values in the ranges for the following passes. */
static void count_share_again(unsigned share, void *arg)
{
	struct refinement *r = arg;
	struct sample_counts *t = &r->all->of[share];
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

static bool is_all_kept(const struct all_counts *all)
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
static int rank_search(struct all_counts *all, struct stats *out)
{
	const struct window *first = &all->of[0].window;
	const struct moments *m = &all->of[0].moments;
	struct search searches[QUANTILES] = {0};
	struct refinement r = {.all = all, .first = first, .is_open = large_alloc(window_bins(first), 1)};
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

static bool squares_fit(const struct moments *m)
{
	uint64_t down = m->min < m->base ? (uint64_t)m->base - (uint64_t)m->min : 0;
	uint64_t up = m->max > m->base ? (uint64_t)m->max - (uint64_t)m->base : 0;

	return 2 * bit_length(down > up ? down : up) + bit_length(m->n) <= 128;
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
	struct all_counts all;
	const struct moments *m;
	int rc = all_counts_open(&all, spans, span_count, limit);

	memset(out, 0, sizeof(*out));
	if (rc)
		goto out;
	count_all(&all, spans, span_count);
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
	all_counts_close(&all);
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
