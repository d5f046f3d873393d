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
#include <string.h>

#include "analysis/stats.h"

#ifndef WINDOW_BITS /* fuzzing, which computes the statistics of few messages very often, has few */
#define WINDOW_BITS 17
#endif
#define WINDOW_BINS ((size_t)1 << WINDOW_BITS)

struct window {
	int64_t base;	  /* lowest value */
	uint64_t reach;	  /* highest value - base; base + reach never overflows */
	unsigned shift;	  /* a bin is 2^shift values wide; of no meaning where bins are logarithmic */
	bool is_log;	  /* bins grow with the distance from the base: 2^-LOG_BITS of it, or one value */
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

/* Place it as another is, all counts zero. */
void window_place_as(struct window *w, const struct window *other);

/*
 * Place it where most of the samples are, guessed from a few thousand of them: one value a bin where
 * that holds nearly all, the narrow part of a latency distribution; else logarithmic bins from the
 * lowest value on, so that neither modes nor tails, however far apart, share a few wide bins. Never
 * wrong, only slow if it misses.
 */
void window_place_guessed(struct window *w, const struct span *spans, size_t span_count);

/* Where rank `rank` (from 1; `before` samples are below the window) falls: the values of one bin.
 * `*before` becomes the samples below that bin. */
struct range window_find(const struct window *w, uint64_t rank, uint64_t *before);

/* How far `value` is above the base; greater than reach if it is outside, below as well as
 * above. */
static inline uint64_t window_offset(const struct window *w, int64_t value)
{
	return (uint64_t)value - (uint64_t)w->base;
}

/* A double's exponent and its highest bits are a logarithm with 2^LOG_BITS steps an octave; of an offset
 * below 2^LOG_REACH_BITS it is exact enough. So many octaves, and one, fit the bins: fewer than 2^6. */
#define LOG_BITS       (WINDOW_BITS - 6)
#define LOG_REACH_BITS 52

static inline size_t window_log_bin(uint64_t offset)
{
	double d = (double)(int64_t)(offset + 1);
	uint64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	return (bits >> (52 - LOG_BITS)) - (1023UL << LOG_BITS);
}

/* The bin of an offset up to reach. */
static inline size_t window_bin(const struct window *w, uint64_t offset)
{
	return w->is_log ? window_log_bin(offset) : offset >> w->shift;
}

#endif
