#include "measure/instrument/arrivals.h"

#include <string.h>

static void remove_gap(struct arrivals *a, unsigned i)
{
	a->gaps--;
	memmove(&a->gap[i], &a->gap[i + 1], (a->gaps - i) * sizeof(a->gap[0]));
}

/* If there is no room for another gap, the oldest one is dropped. */
static void insert_gap(struct arrivals *a, unsigned i, struct arrivals_gap gap)
{
	if (a->gaps == ARRIVALS_GAPS) {
		a->forgotten = a->gap[0].end;
		remove_gap(a, 0);
		i -= i > 0;
	}
	memmove(&a->gap[i + 1], &a->gap[i], (a->gaps - i) * sizeof(a->gap[0]));
	a->gap[i] = gap;
	a->gaps++;
}

/* The number has arrived: shrink, split or remove its gap. */
static void fill_gap(struct arrivals *a, unsigned i, uint32_t number)
{
	struct arrivals_gap *gap = &a->gap[i], rest = {number + 1, gap->end};

	gap->end = number;
	if (gap->first == gap->end && rest.first == rest.end)
		remove_gap(a, i);
	else if (gap->first == gap->end)
		*gap = rest;
	else if (rest.first < rest.end)
		insert_gap(a, i + 1, rest);
}

void arrivals_other(struct arrivals *a, uint32_t number)
{
	if (number >= a->next) {
		insert_gap(a, a->gaps, (struct arrivals_gap){a->next, number});
		a->next = number + 1;
		return;
	}
	for (unsigned i = a->gaps; i-- && number < a->gap[i].end;)
		if (number >= a->gap[i].first) {
			a->late++;
			fill_gap(a, i, number);
			return;
		}
	if (number < a->forgotten)
		a->late++;
	else
		a->twice++;
}
