#include "analysis/cause_shares.h"

#include <stdlib.h>

void cause_shares_add(struct cause_shares *s, unsigned cause, int64_t time)
{
	size_t i = 0;

	while (i < s->count && s->list[i].cause != cause)
		i++;
	if (i == CAUSE_SHARES)
		return;
	if (i == s->count)
		s->list[s->count++] = (struct cause_share){cause, 0};
	s->list[i].time += time;
}

const struct cause_share *cause_shares_longest(const struct cause_shares *s)
{
	const struct cause_share *best = NULL;

	for (size_t i = 0; i < s->count; i++)
		if (!best || s->list[i].time > best->time)
			best = &s->list[i];
	return best;
}

static int by_longest(const void *a, const void *b)
{
	const struct cause_share *one = a, *other = b;

	if (one->time != other->time)
		return one->time < other->time ? 1 : -1;
	return (one->cause > other->cause) - (one->cause < other->cause);
}

void cause_shares_sort(struct cause_shares *s)
{
	qsort(s->list, s->count, sizeof(*s->list), by_longest);
}
