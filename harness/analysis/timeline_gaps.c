#include "analysis/timeline_gaps.h"

#include <stdlib.h>

#include "common/or_abort.h"

#define ENTRY_NS 1000 /* maximum time that an interrupt takes before and after its own events */

void timeline_gaps_note(struct timeline_moments *m, int64_t from, int64_t to, unsigned cause)
{
	m->list = grow_or_abort(m->list, m->count, sizeof(*m->list));
	m->list[m->count++] = (struct timeline_moment){from, to, cause};
}

void timeline_gaps_free(struct timeline_gaps *gaps)
{
	free(gaps->seen.list);
	free(gaps->marks.list);
}

/* A gap between two polls, as far as segments do not cover it. Its cause is a fault, if one began
 * there; an interrupt, if the gap is just before and after the interrupt's events; or something
 * that the kernel does not know about. */
struct gap {
	int64_t from, to, covered;
	unsigned most, moment; /* causes: that of the longest segment in it; that of a moment */
	int64_t longest;
};

static void gap_measure(const struct timeline *t, size_t first, size_t before, struct gap *g)
{
	for (size_t i = first; i < before && t->segments[i].from < g->to; i++) {
		const struct timeline_segment *s = &t->segments[i];
		const int64_t from = s->from > g->from ? s->from : g->from, to = s->to < g->to ? s->to : g->to;

		if (to <= from)
			continue;
		g->covered += to - from;
		if (to - from > g->longest) {
			g->longest = to - from;
			g->most = s->cause;
		}
	}
}

static unsigned gap_cause(const struct timeline_gaps *gaps, const struct gap *g)
{
	const int64_t rest = g->to - g->from - g->covered;

	if (g->moment != TIMELINE_NO_CAUSE)
		return g->moment;
	if (g->most != TIMELINE_NO_CAUSE && (rest <= ENTRY_NS || rest <= g->covered / 2))
		return g->most;
	return cause_table_of(gaps->causes, CAUSE_BELOW, gaps->side, "");
}

/* Append the parts of a gap between the segments to the list. */
static void gap_fill(struct timeline *t, size_t first, size_t before, const struct gap *g, unsigned cause)
{
	int64_t at = g->from;

	for (size_t i = first; i < before && t->segments[i].from < g->to; i++) {
		const struct timeline_segment s = t->segments[i];

		if (s.from > at)
			timeline_add(t, at, s.from < g->to ? s.from : g->to, cause);
		at = s.to > at ? s.to : at;
	}
	timeline_add(t, at, g->to, cause);
}

void timeline_gaps_fill(const struct timeline_gaps *gaps, struct timeline *t)
{
	const struct timeline_moments *marks = &gaps->marks;
	const size_t before = t->count;
	size_t first = 0, mark = 0;

	for (size_t i = 0; i < gaps->seen.count; i++) {
		const struct timeline_moment *is = &gaps->seen.list[i];
		struct gap g = {.from = is->from, .to = is->to, .most = TIMELINE_NO_CAUSE, .moment = TIMELINE_NO_CAUSE};

		if (i && g.from < is[-1].to)
			g.from = is[-1].to;
		while (first < before && t->segments[first].to <= g.from)
			first++;
		while (mark < marks->count && marks->list[mark].from < g.from)
			mark++;
		if (mark < marks->count && marks->list[mark].from < g.to)
			g.moment = marks->list[mark].cause;
		gap_measure(t, first, before, &g);
		gap_fill(t, first, before, &g, gap_cause(gaps, &g));
	}
	timeline_sort(t);
}
