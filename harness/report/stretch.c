#include "report/stretch.h"

#include <stdlib.h>

#include "common/npy.h"
#include "common/or_abort.h"

struct stretch {
	size_t first;
	double mean;
};

static int by_mean(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	return x->mean != y->mean ? (x->mean < y->mean ? -1 : 1) : (x->first > y->first) - (x->first < y->first);
}

static double mean_of(const int64_t *values, size_t count)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (values[i] != NEVER) {
			sum += (double)values[i];
			n++;
		}
	return n ? sum / (double)n : 0;
}

/* The section of that rank among all, from 0 to 1. */
static size_t stretch_at(const struct period_sequence *s, size_t length, size_t step, double rank)
{
	const size_t count = s->count > length ? (s->count - length) / step + 1 : 1;
	struct stretch *all = or_abort(calloc(count, sizeof(*all)));
	size_t first;

	for (size_t i = 0; i < count; i++)
		all[i] =
		    (struct stretch){i * step, mean_of(s->values + i * step, s->count < length ? s->count : length)};
	qsort(all, count, sizeof(*all), by_mean);
	first = all[(size_t)(rank * (double)(count - 1))].first;
	free(all);
	return first;
}

size_t stretch_typical(const struct period_sequence *s, size_t length, size_t step)
{
	return stretch_at(s, length, step, 0.5);
}

size_t stretch_worst(const struct period_sequence *s, size_t length, size_t step)
{
	return stretch_at(s, length, step, 1);
}
