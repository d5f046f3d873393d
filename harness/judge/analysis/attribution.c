#include "judge/analysis/explained.h"

#include <stdbool.h>
#include <stdlib.h>

#include "common/npy.h"
#include "common/or_abort.h"

#define SAMPLE	    1000 /* maximum number of typical messages to examine */
#define SAMPLE_SEED UINT64_C(88172645463325252)

/* --- one message --- */

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Adds the time of each cause that overlaps [from, to], on both sides together. Returns how much of
 * the interval they cover. */
static int64_t cover(const struct timeline *const side[2], int64_t from, int64_t to, struct cause_shares *shares)
{
	size_t at[2] = {0, 0};
	int64_t covered = 0, reached = from;

	for (unsigned k = 0; k < 2; k++)
		at[k] = side[k] ? timeline_find(side[k], from) : 0;
	for (;;) {
		const struct timeline_segment *next = NULL;
		unsigned of = 0;

		for (unsigned k = 0; k < 2; k++) {
			const struct timeline_segment *s =
			    side[k] && at[k] < side[k]->count ? &side[k]->segments[at[k]] : NULL;

			if (s && s->from < to && (!next || s->from < next->from)) {
				next = s;
				of = k;
			}
		}
		if (!next)
			return covered;
		const int64_t begin = later(next->from, from), end = earlier(next->to, to);

		cause_shares_add(shares, next->cause, end - begin);
		if (end > reached) {
			covered += end - later(begin, reached);
			reached = end;
		}
		at[of]++;
	}
}

/* Is there a timeline, and were no events lost before the message arrived? */
static bool attribution_is_known(const struct attribution_input *in, int64_t to)
{
	for (unsigned k = 0; k < 2; k++)
		if (in->side[k] && (in->side[k]->known_until < to || in->side[k]->gaps_until < to))
			return false;
	return in->side[0] || in->side[1];
}

/* --- queues --- */

/* The previous message, if it was late itself, was in flight when this one was sent, and arrived no later. */
static const struct late_message *queue_head(const struct attribution_input *in, const struct attribution *out,
					     size_t first, size_t message)
{
	const struct late_message *last = out->count > first ? &out->late[out->count - 1] : NULL;

	if (!last || last->message + 1 != message || last->to <= in->span.b[message] || last->to > in->span.a[message])
		return NULL;
	return last;
}

static void judge_queue(const struct attribution_input *in, struct cause_table *causes, const struct attribution *out,
			size_t first, struct late_message *m)
{
	const struct late_message *before = queue_head(in, out, first, m->message);

	if (!before || !cause_is_known(causes->list[before->cause].class))
		return;
	m->time = before->to - m->from;
	if (m->time < m->excess / 2)
		return;
	m->behind = before->behind >= 0 ? before->behind : (long long)before->message;
	m->covered = later(m->covered, earlier(m->time, m->excess));
	m->cause = cause_table_of(causes, CAUSE_QUEUED, CAUSE_NO_SIDE, "");
}

/* --- all messages --- */

/* Causes on the message's critical path take precedence over others that overlap it, because the
 * other CPU may have been taken for longer. */
static bool judge_overlap(const struct attribution_input *in, struct late_message *m)
{
	const int64_t enough = m->excess / 2 + m->excess % 2;
	struct cause_shares overlap = {.count = 0}, on_path = {.count = 0};
	const struct cause_share *most;

	m->covered = cover(in->side, m->from, m->to, &overlap);
	if (m->covered < enough)
		return false;
	most = critical_path_follow(&in->path, in->side, m->from, m->to, &on_path) >= enough
		   ? cause_shares_longest(&on_path)
		   : cause_shares_longest(&overlap);
	if (!most)
		return false;
	m->cause = most->cause;
	m->time = most->time;
	return true;
}

static bool happened(const struct span *s, size_t i)
{
	int64_t difference;

	return s->a[i] != NEVER && s->b[i] != NEVER && !__builtin_sub_overflow(s->a[i], s->b[i], &difference);
}

static bool is_late(const struct attribution_input *in, size_t i)
{
	return (in->span.a[i] - in->span.b[i]) / in->divide > in->limit;
}

/* --- requests of a program --- */

/* How long each cause takes of a typical request. */
struct typical_times {
	int64_t *of; /* by cause */
	size_t count;
};

static const struct timeline *timeline_of_request(const struct attribution_input *in, size_t i)
{
	const struct timeline_thread *thread = timeline_thread_find(in->threads, in->thread[i]);

	return thread ? &thread->line : NULL;
}

static bool request_is_typical(const struct attribution_input *in, size_t i)
{
	return happened(&in->span, i) && !is_late(in, i) && in->span.a[i] <= in->threads->known_until;
}

static struct typical_times find_typical(const struct attribution_input *in, const struct cause_table *causes)
{
	struct typical_times t = {or_abort(calloc(causes->count + 1, sizeof(*t.of))), causes->count};
	const size_t step = in->span.count / SAMPLE + 1;
	int64_t sampled = 0;

	for (size_t i = 0; i < in->span.count; i += step) {
		const struct timeline *const side[2] = {timeline_of_request(in, i), NULL};
		struct cause_shares shares = {.count = 0};

		if (!side[0] || !request_is_typical(in, i))
			continue;
		cover(side, in->span.b[i], in->span.a[i], &shares);
		for (size_t k = 0; k < shares.count; k++)
			t.of[shares.list[k].cause] += shares.list[k].time;
		sampled++;
	}
	for (size_t i = 0; sampled && i < t.count; i++)
		t.of[i] /= sampled;
	return t;
}

static void judge_request(const struct attribution_input *in, const struct typical_times *typical,
			  struct cause_table *causes, struct late_message *m)
{
	const struct timeline *const side[2] = {timeline_of_request(in, m->message), NULL};
	struct cause_shares shares = {.count = 0};
	int64_t grown = 0;

	if (side[0] && m->to <= in->threads->known_until)
		cover(side, m->from, m->to, &shares);
	for (size_t i = 0; i < shares.count; i++) {
		const int64_t more = shares.list[i].time - typical->of[shares.list[i].cause];

		grown += more > 0 ? more : 0;
		if (more > m->time) {
			m->cause = shares.list[i].cause;
			m->time = more;
		}
	}
	m->covered = earlier(grown, m->excess);
	if (m->time && m->covered >= m->excess / 2)
		return;
	m->cause =
	    cause_table_of(causes, side[0] && m->to <= in->threads->known_until ? CAUSE_UNEXPLAINED : CAUSE_NOT_KNOWN,
			   CAUSE_NO_SIDE, "");
	m->time = m->excess - m->covered;
}

/* --- all messages --- */

static struct late_message late_begin(const struct attribution_input *in, size_t message)
{
	struct late_message m = {
	    .message = message, .from = in->span.b[message], .to = in->span.a[message], .behind = -1};

	if (__builtin_sub_overflow(m.to - m.from, in->median, &m.excess))
		m.excess = INT64_MAX;
	m.thread = in->threads ? in->thread[message] : 0;
	return m;
}

static struct late_message judge_late(const struct attribution_input *in, struct cause_table *causes,
				      const struct attribution *out, size_t first, size_t message)
{
	struct late_message m = late_begin(in, message);

	if (judge_overlap(in, &m))
		return m;
	m.cause = cause_table_of(causes, attribution_is_known(in, m.to) ? CAUSE_UNEXPLAINED : CAUSE_NOT_KNOWN,
				 CAUSE_NO_SIDE, "");
	m.time = m.excess - m.covered;
	judge_queue(in, causes, out, first, &m);
	return m;
}

static void keep_late(struct attribution *out, const struct late_message *m)
{
	out->late = grow_or_abort(out->late, out->count, sizeof(*out->late));
	out->late[out->count++] = *m;
}

/* How often does anything happen during a message that is not late? */
static void sample_typical(const struct attribution_input *in, struct attribution *out)
{
	uint64_t random = SAMPLE_SEED;

	for (size_t n = 0; in->span.count && n < SAMPLE; n++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;

		const size_t i = (size_t)(random % in->span.count);
		struct cause_shares shares = {.count = 0};

		if (!happened(&in->span, i) || is_late(in, i) || !attribution_is_known(in, in->span.a[i]))
			continue;
		cover(in->side, in->span.b[i], in->span.a[i], &shares);
		out->typical++;
		out->coincidences += shares.count > 0;
	}
}

static void add_requests(const struct attribution_input *in, struct cause_table *causes, struct attribution *out)
{
	const struct typical_times typical = find_typical(in, causes);

	for (size_t i = 0; i < in->span.count; i++)
		if (happened(&in->span, i) && is_late(in, i)) {
			struct late_message m = late_begin(in, i);

			judge_request(in, &typical, causes, &m);
			keep_late(out, &m);
		}
	free(typical.of);
}

void attribution_add(const struct attribution_input *in, struct cause_table *causes, struct attribution *out)
{
	const size_t first = out->count;

	if (in->threads) {
		add_requests(in, causes, out);
		return;
	}

	for (size_t i = 0; i < in->span.count; i++)
		if (happened(&in->span, i) && is_late(in, i)) {
			const struct late_message m = judge_late(in, causes, out, first, i);

			keep_late(out, &m);
		}
	sample_typical(in, out);
}

void attribution_free(struct attribution *a)
{
	free(a->late);
	*a = (struct attribution){.late = NULL};
}

struct cause_shares attribution_shares(const struct timeline *t, int64_t from, int64_t to)
{
	const struct timeline *const side[2] = {t, NULL};
	struct cause_shares shares = {.count = 0};

	cover(side, from, to, &shares);
	cause_shares_sort(&shares);
	return shares;
}

#define SIDES	  2
#define NOT_THERE INT64_MAX

/* The best path to a visit: the time during which nothing delayed the message, and when each visit began. */
struct way {
	int64_t undelayed; /* NOT_THERE: there is no path */
	int64_t came[CRITICAL_PATH_VISITS];
};

/* Iterates over the moments at which a side loses its CPU or gets it back. */
struct moments {
	const struct timeline *const *side;
	size_t at[SIDES];
	bool was_away[SIDES], is_away[SIDES]; /* just before the moment, and from then on */
	int64_t now, to;
};

static const struct timeline_segment *moments_segment(const struct moments *w, unsigned side)
{
	const struct timeline *t = w->side[side];

	return t && w->at[side] < t->count ? &t->segments[w->at[side]] : NULL;
}

static void moments_begin(struct moments *w, int64_t from)
{
	w->now = from;
	for (unsigned side = 0; side < SIDES; side++) {
		w->at[side] = w->side[side] ? timeline_find(w->side[side], from) : 0;
		const struct timeline_segment *s = moments_segment(w, side);

		w->was_away[side] = s && s->from < from;
		w->is_away[side] = s && s->from <= from;
	}
}

/* The time of the next moment, at most the end. */
static int64_t moments_next(const struct moments *w)
{
	int64_t next = w->to;

	for (unsigned side = 0; side < SIDES; side++) {
		const struct timeline_segment *s = moments_segment(w, side);
		const int64_t change = !s ? next : w->is_away[side] ? s->to : s->from;

		next = change < next ? change : next;
	}
	return next;
}

static void moments_go(struct moments *w, int64_t next)
{
	w->now = next;
	for (unsigned side = 0; side < SIDES; side++) {
		const struct timeline_segment *s = moments_segment(w, side);

		w->was_away[side] = w->is_away[side];
		if (s && s->to <= next) {
			w->at[side]++;
			s = moments_segment(w, side);
		}
		w->is_away[side] = s && s->from <= next;
	}
}

/* Can a message leave the side now? At the end, it can also if the side gets its CPU back a little
 * later, because stamps and gaps are not more accurate than that. */
static bool moments_may_leave(const struct moments *w, unsigned side, int64_t tolerance)
{
	if (!w->was_away[side] || !w->is_away[side])
		return true;
	return w->now == w->to && moments_segment(w, side)->to - w->to <= tolerance;
}

static void take_better_ways(const struct critical_path *p, const struct moments *w, struct way *ways)
{
	for (unsigned v = 0; v + 1 < p->visits; v++)
		if (ways[v].undelayed < ways[v + 1].undelayed && moments_may_leave(w, p->side[v], p->visit_ns)) {
			ways[v + 1] = ways[v];
			ways[v + 1].came[v + 1] = w->now;
		}
}

static struct way find_way(const struct critical_path *p, const struct timeline *const side[2], int64_t from,
			   int64_t to)
{
	struct way ways[CRITICAL_PATH_VISITS] = {{0, {from}}, {NOT_THERE, {0}}, {NOT_THERE, {0}}};
	struct moments w = {.side = side, .to = to};

	for (moments_begin(&w, from); w.now < to;) {
		const int64_t next = moments_next(&w);

		take_better_ways(p, &w, ways);
		for (unsigned v = 0; v < p->visits; v++)
			if (ways[v].undelayed != NOT_THERE && !w.is_away[p->side[v]])
				ways[v].undelayed += next - w.now;
		moments_go(&w, next);
	}
	take_better_ways(p, &w, ways);
	return ways[p->visits - 1];
}

/* Add what took the CPU of a side while the message was there. Returns the total time. */
static int64_t add_visit(const struct timeline *t, int64_t from, int64_t to, struct cause_shares *shares)
{
	int64_t delayed = 0;

	for (size_t i = timeline_find(t, from); i < t->count && t->segments[i].from < to; i++) {
		const struct timeline_segment *s = &t->segments[i];
		const int64_t begin = s->from > from ? s->from : from, end = s->to < to ? s->to : to;

		cause_shares_add(shares, s->cause, end - begin);
		delayed += end - begin;
	}
	return delayed;
}

int64_t critical_path_follow(const struct critical_path *p, const struct timeline *const side[2], int64_t from,
			     int64_t to, struct cause_shares *shares)
{
	int64_t delayed = 0;

	if (!p->visits || to <= from)
		return 0;
	const struct way way = find_way(p, side, from, to);

	for (unsigned v = 0; way.undelayed != NOT_THERE && v < p->visits; v++)
		if (side[p->side[v]])
			delayed +=
			    add_visit(side[p->side[v]], way.came[v], v + 1 < p->visits ? way.came[v + 1] : to, shares);
	return delayed;
}
