/*
 * The samples that statistics and histograms are made of: differences of columns.
 */
#ifndef KBLAT_ANALYSIS_SPAN_H
#define KBLAT_ANALYSIS_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/npy.h"

/* The samples of one repetition: a[i] - b[i], or a[i] if b is NULL. If either is NEVER, the sample
 * is lost. A difference that does not fit in 64 bits counts as the nearest value that does. */
struct span {
	const int64_t *a, *b;
	size_t count;
};

/* A sample of a span; false if it is lost. Inline, for passes over columns. */
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
