/*
 * Bins over a range of values, to find ranks by counting. A window has a fixed size in memory (8
 * bytes per bin). If its range has more values than bins, a bin holds 2^shift neighbouring values,
 * and finding an exact value takes another pass with a window over that bin.
 *
 * There is one array of counts rather than several to alternate between: on current cores,
 * incrementing the bin that was just incremented is not more expensive, and latencies rarely repeat
 * the previous value anyway.
 */
#ifndef KBLAT_ANALYSIS_WINDOW_H
#define KBLAT_ANALYSIS_WINDOW_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "judge/analysis/span.h"

#ifndef WINDOW_BITS /* fuzzing uses fewer, as it computes the statistics of few messages very often */
#define WINDOW_BITS 17
#endif
#define WINDOW_BINS ((size_t)1 << WINDOW_BITS)

struct window {
	int64_t base;	/* lowest value */
	uint64_t reach; /* highest value - base; base + reach never overflows */
	unsigned shift; /* a bin is 2^shift values wide; not used if bins are logarithmic */
	/* bins grow with the distance from the base: a width of 2^-LOG_BITS of it, but at least
	 * one value */
	bool is_log;
	uint64_t *counts; /* WINDOW_BINS */
};

/* A range of values, including both ends. */
struct range {
	int64_t low, high;
};

static inline unsigned bit_length(uint64_t v)
{
	return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

/* Allocate counts, which have no value until the window is placed: 0 or -ENOMEM. Windows are small enough to be kept for
 * several passes. */
int window_alloc(struct window *w);
void window_free(struct window *w);

/* Place the window over a range, and set the counts of its bins to zero. */
void window_place(struct window *w, struct range r);

/* The same with no more bins than these few samples are worth. */
void window_place_small(struct window *w, struct range r, uint64_t samples);

/* Place the window where another one is, and set the counts of its bins to zero. */
void window_place_as(struct window *w, const struct window *other);

/*
 * Place the window where most of the samples are, estimated from a few thousand of them. Bins hold
 * one value each if that covers nearly all samples, which means the narrow part of a latency
 * distribution. Otherwise bins are logarithmic from the lowest value on, so that modes and tails do
 * not share a few wide bins, however far apart they are. A bad estimate costs time, but does not
 * change results.
 */
void window_place_guessed(struct window *w, const struct span *spans, size_t span_count);

/* Find the bin that contains rank `rank` (from 1; `*before` samples are below the window). Returns
 * the range of the bin's values, and sets `*before` to the number of samples below the bin. */
struct range window_find(const struct window *w, uint64_t rank, uint64_t *before);

/* How far `value` is above the base; greater than reach if it is outside, whether below or above. */
static inline uint64_t window_offset(const struct window *w, int64_t value)
{
	return (uint64_t)value - (uint64_t)w->base;
}

/* The exponent and the highest mantissa bits of a double are a logarithm with 2^LOG_BITS steps per
 * octave; it is exact enough for offsets below 2^LOG_REACH_BITS. The bins have room for that many
 * octaves and one more, which are fewer than 2^6. */
#define LOG_BITS       (WINDOW_BITS - 6)
#define LOG_REACH_BITS 52

static inline size_t window_log_bin(uint64_t offset)
{
	double d = (double)(int64_t)(offset + 1);
	uint64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	return (bits >> (52 - LOG_BITS)) - (1023UL << LOG_BITS);
}

/* The bin of an offset, which is at most `reach`. */
static inline size_t window_bin(const struct window *w, uint64_t offset)
{
	return w->is_log ? window_log_bin(offset) : offset >> w->shift;
}

/* The number of bins of its range. */
static inline size_t window_bins(const struct window *w)
{
	return window_bin(w, w->reach) + 1;
}

#endif
