#include "judge/analysis/timeline.h"

#include <stdlib.h>

#include "common/or_abort.h"

void timeline_add(struct timeline *t, int64_t from, int64_t to, unsigned cause)
{
	struct timeline_segment *last = t->count ? &t->segments[t->count - 1] : NULL;

	if (from >= to)
		return;
	if (last && last->to == from && last->cause == cause) {
		last->to = to;
		return;
	}
	t->segments = grow_or_abort(t->segments, t->count, sizeof(*t->segments));
	t->segments[t->count++] = (struct timeline_segment){from, to, cause};
}

static int timeline_by_time(const void *a, const void *b)
{
	const int64_t one = ((const struct timeline_segment *)a)->from,
		      other = ((const struct timeline_segment *)b)->from;

	return (one > other) - (one < other);
}

void timeline_sort(struct timeline *t)
{
	size_t kept = 0;

	if (!t->count)
		return;
	qsort(t->segments, t->count, sizeof(*t->segments), timeline_by_time);
	for (size_t i = 1; i < t->count; i++) {
		struct timeline_segment *last = &t->segments[kept], *s = &t->segments[i];

		if (last->to == s->from && last->cause == s->cause)
			last->to = s->to;
		else
			t->segments[++kept] = *s;
	}
	t->count = kept + 1;
}

void timeline_free(struct timeline *t)
{
	free(t->segments);
	*t = (struct timeline){.segments = NULL};
}

size_t timeline_find(const struct timeline *t, int64_t time)
{
	size_t low = 0, high = t->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (t->segments[middle].to > time)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static int compare_tids(const void *tid, const void *thread)
{
	const int64_t wanted = *(const int64_t *)tid, found = ((const struct timeline_thread *)thread)->tid;

	return (wanted > found) - (wanted < found);
}

const struct timeline_thread *timeline_thread_find(const struct timeline_threads *t, int64_t tid)
{
	return t->count ? bsearch(&tid, t->list, t->count, sizeof(*t->list), compare_tids) : NULL;
}

void timeline_free_threads(struct timeline_threads *t)
{
	for (size_t i = 0; i < t->count; i++) {
		timeline_free(&t->list[i].line);
		free(t->list[i].wakes);
	}
	free(t->list);
	*t = (struct timeline_threads){.list = NULL};
}
