#include "analysis/critical_path.h"

#include <stdbool.h>

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
