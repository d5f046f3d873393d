/*
 * Bins over a range of values, to find ranks by counting. A window is fixed memory (8 bytes a bin);
 * where its range has more values than bins, a bin holds 2^shift neighbours, and whoever wants the
 * exact value looks again with a window over that bin.
 *
 * One lane of counts: on current cores an increment of the bin that was just incremented costs no
 * more than another; samples of a latency seldom repeat the last one anyway.
 */
#ifndef KBLAT_ANALYSIS_WINDOW_H
#define KBLAT_ANALYSIS_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/stats.h"

#define WINDOW_BITS 17
#define WINDOW_BINS ((size_t)1 << WINDOW_BITS)

struct window {
	int64_t base;	  /* lowest value */
	uint64_t reach;	  /* highest value - base; base + reach never overflows */
	unsigned shift;	  /* a bin is 2^shift values wide */
	uint64_t *counts; /* WINDOW_BINS */
};

/* A closed range of values. */
struct range {
	int64_t low, high;
};

/* 0 or -ENOMEM. Zeroed; windows are small enough to be kept for several passes. */
int window_alloc(struct window *w);
void window_free(struct window *w);

/* Place it over a range, all counts zero. */
void window_place(struct window *w, struct range r);

/*
 * The range where most of the samples are, guessed from a few thousand of them: nearly all of the
 * narrow part of a latency distribution. WINDOW_BINS values where that is enough, else more. Never
 * wrong, only slow if it misses.
 */
struct range window_guess(const struct span *spans, size_t span_count);

/* Where rank `rank` (from 1; `before` samples are below the window) falls: the values of one bin.
 * `*before` becomes the samples below that bin. */
struct range window_find(const struct window *w, uint64_t rank, uint64_t *before);

/* How far `value` is above the base; greater than reach if it is outside, below as well as
 * above. */
static inline uint64_t window_offset(const struct window *w, int64_t value)
{
	return (uint64_t)value - (uint64_t)w->base;
}

#endif
