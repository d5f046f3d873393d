/*
 * Iterates over the samples of spans: a[i] - b[i], or nothing if either never happened. Inline, for
 * passes over columns. A difference that does not fit in 64 bits (292 years, so not a latency)
 * becomes the nearest value that does.
 */
#ifndef KBLAT_ANALYSIS_SPAN_H
#define KBLAT_ANALYSIS_SPAN_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/stats.h"
#include "common/npy.h"

static inline bool span_sample(const struct span *s, size_t i, int64_t *value)
{
	int64_t a = s->a[i], b = s->b ? s->b[i] : 0;

	if (__builtin_expect(a == NEVER || b == NEVER, 0))
		return false;
	if (__builtin_expect(__builtin_sub_overflow(a, b, value), 0))
		*value = a < b ? INT64_MIN : INT64_MAX;
	return true;
}

static inline size_t span_total(const struct span *spans, size_t count)
{
	size_t total = 0;

	for (size_t k = 0; k < count; k++)
		total += spans[k].count;
	return total;
}

#endif
