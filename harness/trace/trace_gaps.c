#include "trace/trace_gaps.h"

static int add_gap(const struct witness_gap *gap, int cpu, const struct clock_conversion *c, struct trace_words *to)
{
	const int64_t from = clock_to_ns(c, gap->from), end = clock_to_ns(c, gap->to);

	return trace_words_add(to, (int64_t[TRACE_WORDS]){end, cpu, TRACE_GAP, -1, end - from});
}

int trace_gaps_merge(const struct trace_words *events, bool others, const struct witness *w, int cpu,
		     const struct clock_conversion *c, struct trace_words *to)
{
	uint32_t gap = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < events->count; i++) {
		const int64_t *event = events->data + i * TRACE_WORDS;

		if (!others && event[TRACE_CPU] != cpu)
			continue;
		while (!rc && gap < w->count && clock_to_ns(c, w->gaps[gap].to) < event[TRACE_TIME])
			rc = add_gap(&w->gaps[gap++], cpu, c, to);
		if (!rc)
			rc = trace_words_add(to, event);
	}
	while (!rc && gap < w->count)
		rc = add_gap(&w->gaps[gap++], cpu, c, to);
	return rc;
}
