#include "judge/analysis/flight.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/npy.h"
#include "common/or_abort.h"
#include "judge/analysis/window.h"

/* Times of reception, with the earliest at the top. */
struct heap {
	int64_t *times;
	size_t count, room;
};

static int heap_push(struct heap *h, int64_t time)
{
	size_t i = h->count;

	if (h->count == h->room) {
		size_t room = h->room ? h->room * 2 : 64;
		int64_t *bigger = large_resize(h->times, room, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		h->times = bigger;
		h->room = room;
	}
	for (h->count++; i && h->times[(i - 1) / 2] > time; i = (i - 1) / 2)
		h->times[i] = h->times[(i - 1) / 2];
	h->times[i] = time;
	return 0;
}

static void heap_pop(struct heap *h)
{
	int64_t last = h->times[--h->count];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < h->count) {
		child += child + 1 < h->count && h->times[child + 1] < h->times[child];
		if (h->times[child] >= last)
			break;
		h->times[i] = h->times[child];
		i = child;
	}
	h->times[i] = last;
}

/*
 * The messages in flight. Those received in the order of submission form a queue, which does not
 * need memory of its own: it is a part of the column, and `head` is its beginning. Messages that
 * are received before one that was submitted earlier are in the heap.
 */
struct under_way {
	const struct span *span;
	size_t head, queued;
	int64_t head_newest, newest; /* latest reception up to the head and up to the end of the queue */
	struct heap overtakers;
};

static bool was_received(const struct span *s, size_t i)
{
	return s->a[i] != NEVER && s->b[i] != NEVER;
}

static int flight_join(struct under_way *u, size_t i)
{
	int64_t time = u->span->a[i];

	if (!was_received(u->span, i))
		return 0;
	if (time < u->newest)
		return heap_push(&u->overtakers, time);
	u->newest = time;
	u->queued++;
	return 0;
}

/* Remove the messages that were received up to `now`. `next` is the first message that has not been
 * added yet. */
static void flight_leave(struct under_way *u, size_t next, int64_t now)
{
	for (; u->head < next; u->head++) {
		int64_t time = u->span->a[u->head];

		/* The same condition as in flight_join(), so it has the same result. */
		if (!was_received(u->span, u->head) || time < u->head_newest)
			continue;
		if (time > now)
			break;
		u->head_newest = time;
		u->queued--;
	}
	while (u->overtakers.count && u->overtakers.times[0] <= now)
		heap_pop(&u->overtakers);
}

static void flight_count_one(struct window *w, uint64_t under_way)
{
	uint64_t offset = window_offset(w, (int64_t)under_way);

	if (offset <= w->reach)
		w->counts[offset >> w->shift]++;
}

static int flight_count_span(const struct span *s, struct window *w, struct flight *f)
{
	struct under_way u = {.span = s, .head_newest = INT64_MIN, .newest = INT64_MIN};
	int64_t last = INT64_MIN;
	int rc = 0;

	for (size_t i = 0; !rc && i < s->count; i++) {
		int64_t now = s->b[i], depth;

		if (now == NEVER)
			continue;
		f->is_known &= now >= last;
		last = now;
		flight_leave(&u, i, now);
		depth = (int64_t)(u.queued + u.overtakers.count);
		f->max = depth > f->max ? depth : f->max;
		flight_count_one(w, (uint64_t)depth);
		f->sent++;
		f->lost += s->a[i] == NEVER;
		rc = flight_join(&u, i);
	}
	free(u.overtakers.times);
	return rc;
}

static int flight_count_all(const struct span *spans, size_t span_count, struct window *w, struct flight *f)
{
	int rc = 0;

	*f = (struct flight){.is_known = true};
	for (size_t k = 0; !rc && k < span_count; k++)
		rc = flight_count_span(&spans[k], w, f);
	f->is_known &= f->sent > 0;
	return rc;
}

/* The median by counting, as for latencies: one pass over the whole range, then one over the bin
 * that contains it. */
static int find_median(const struct span *spans, size_t span_count, struct window *w, struct flight *f)
{
	struct range in = {0, 0};
	uint64_t before = 0;
	int rc;

	for (size_t k = 0; k < span_count; k++)
		if ((int64_t)spans[k].count > in.high)
			in.high = (int64_t)spans[k].count;
	do {
		window_place(w, in);
		rc = flight_count_all(spans, span_count, w, f);
		f->has_p50 = f->is_known && quantile_is_known(Q50, f->sent);
		if (rc || !f->has_p50)
			break;
		in = window_find(w, quantile_rank(Q50, f->sent), &before);
	} while (in.low != in.high);
	f->p50 = in.low;
	return rc;
}

int flight_compute(const struct span *spans, size_t span_count, struct flight *out, struct err *e)
{
	struct window w;
	int rc = window_alloc(&w);

	memset(out, 0, sizeof(*out));
	if (!rc)
		rc = find_median(spans, span_count, &w, out);
	window_free(&w);
	return rc ? err_sys(e, rc, NULL, "count messages under way") : 0;
}
