#include "judge/analysis/tally.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"

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

void shares_run(unsigned count, void (*work)(unsigned share, void *arg), void *arg)
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
	tally_keep(k, value);
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
	struct tallies *all = arg;
	struct tally *t = &all->of[share];

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
static void tallies_join(struct tallies *all)
{
	struct tally *first = &all->of[0];

	for (unsigned i = 1; i < all->count; i++) {
		moments_join(&first->moments, &all->of[i].moments);
		for (size_t bin = 0; bin < window_bins(&first->window); bin++)
			first->window.counts[bin] += all->of[i].window.counts[bin];
	}
	first->moments.n -= first->moments.lost;
	if (!first->window.is_log)
		moments_from_bins(&first->moments, &first->window, all->limit);
}

int tallies_open(struct tallies *all, const struct span *spans, size_t span_count, int64_t limit)
{
	int rc = 0;

	memset(all, 0, sizeof(*all));
	all->limit = limit;
	all->count = shares_for(span_total(spans, span_count));
	all->spans = large_alloc(all->count * span_count + 1, sizeof(*all->spans));
	all->kept = large_alloc(STATS_KEPT_MAX, sizeof(*all->kept));
	if (!all->spans)
		return -ENOMEM;
	for (unsigned i = 0; !rc && i < all->count; i++) {
		struct tally *t = &all->of[i];
		size_t room = STATS_KEPT_MAX / all->count;

		t->spans = all->spans + i * span_count;
		t->span_count = shares_deal(spans, span_count, i, all->count, t->spans);
		t->kept = (struct kept){all->kept ? all->kept + i * room : NULL, 0, room, all->kept};
		rc = window_alloc(&t->window);
	}
	return rc;
}

void tallies_close(struct tallies *all)
{
	for (unsigned i = 0; i < all->count; i++)
		window_free(&all->of[i].window);
	free(all->spans);
	free(all->kept);
}

void tallies_count(struct tallies *all, const struct span *spans, size_t span_count)
{
	struct window *first = &all->of[0].window;

	window_place_guessed(first, spans, span_count);
	for (unsigned i = 1; i < all->count; i++)
		window_place_as(&all->of[i].window, first);
	shares_run(all->count, first_pass, all);
	tallies_join(all);
}
