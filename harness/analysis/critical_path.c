#include "analysis/critical_path.h"

#include <stdbool.h>

struct follower {
	int64_t at, to; /* how far it is; at <= to */
	int64_t delayed;
	struct cause_shares *shares;
};

/* Until the segment ends the message waits. */
static void follower_wait(struct follower *f, int64_t from, const struct timeline_segment *s)
{
	const int64_t end = s->to < f->to ? s->to : f->to;

	if (end <= from)
		return;
	cause_shares_add(f->shares, s->cause, end - from);
	f->delayed += end - from;
	f->at = end;
}

/* At the last side the message stays until its second stamp, whatever happens. */
static void follower_visit(struct follower *f, const struct timeline *t, int64_t visit_ns, bool is_last)
{
	for (size_t i = timeline_find(t, f->at); i < t->count && t->segments[i].from < f->to; i++) {
		const int64_t from = t->segments[i].from > f->at ? t->segments[i].from : f->at;

		if (!is_last && from - f->at > visit_ns)
			break;
		follower_wait(f, from, &t->segments[i]);
	}
	f->at = f->to - f->at > visit_ns ? f->at + visit_ns : f->to;
}

int64_t critical_path_follow(const struct critical_path *p, const struct timeline *const side[2], int64_t from,
			     int64_t to, struct cause_shares *shares)
{
	struct follower f = {.at = from, .to = to, .shares = shares};

	for (unsigned i = 0; i < p->visits && f.at < to; i++)
		if (side[p->side[i]])
			follower_visit(&f, side[p->side[i]], p->visit_ns, i + 1 == p->visits);
	return f.delayed;
}
