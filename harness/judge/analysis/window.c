#include "judge/analysis/window.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"
#include "common/sort.h"

#define SAMPLES	   4096
#define SMALL_BITS 3 /* bins for each sample */

/* Counts that were freed, for the next windows: of a few hundred samples, the first touch of their pages takes longer
 * than anything else. */
static _Atomic(uint64_t *) spares[8];

#define SPARES (sizeof(spares) / sizeof(spares[0]))

int window_alloc(struct window *w)
{
	memset(w, 0, sizeof(*w));
	for (size_t i = 0; !w->counts && i < SPARES; i++)
		w->counts = atomic_exchange(&spares[i], NULL);
	if (!w->counts)
		w->counts = large_alloc(WINDOW_BINS, sizeof(*w->counts));
	return w->counts ? 0 : -ENOMEM;
}

void window_free(struct window *w)
{
	for (size_t i = 0; w->counts && i < SPARES; i++)
		w->counts = atomic_exchange(&spares[i], w->counts);
	free(w->counts);
	w->counts = NULL;
}

/* The smallest shift that maps an offset of `reach` to one of 2^bits bins. */
static unsigned shift_for(uint64_t reach, unsigned bits)
{
	return bit_length(reach) > bits ? bit_length(reach) - bits : 0;
}

/* Other bins keep what they had: clearing all takes longer than anything else for a few hundred samples. */
static void clear(struct window *w)
{
	memset(w->counts, 0, window_bins(w) * sizeof(*w->counts));
}

static void place(struct window *w, struct range r, unsigned bits, bool is_log)
{
	w->base = r.low;
	w->reach = (uint64_t)r.high - (uint64_t)r.low;
	w->shift = shift_for(w->reach, bits);
	w->is_log = is_log;
	clear(w);
}

void window_place(struct window *w, struct range r)
{
	place(w, r, WINDOW_BITS, false);
}

void window_place_small(struct window *w, struct range r, uint64_t samples)
{
	const unsigned bits = bit_length(samples) + SMALL_BITS;

	place(w, r, bits < WINDOW_BITS ? bits : WINDOW_BITS, false);
}

void window_place_as(struct window *w, const struct window *other)
{
	uint64_t *counts = w->counts;

	*w = *other;
	w->counts = counts;
	clear(w);
}

/* `*all`: they are all that there are. */
static size_t take_samples(const struct span *spans, size_t span_count, int64_t *samples, bool *all)
{
	size_t taken = 0, stride, next = 0;

	/* An odd stride, so that a pattern of the sender (bursts of 2^k) does not hide values. */
	stride = (span_total(spans, span_count) / SAMPLES) | 1;
	for (size_t k = 0; k < span_count; k++) {
		for (; next < spans[k].count && taken < SAMPLES; next += stride)
			taken += span_sample(&spans[k], next, &samples[taken]);
		next = next > spans[k].count ? next - spans[k].count : 0;
	}
	sort_integers(samples, taken);
	*all = stride == 1;
	return taken;
}

/* `r`, widened by `margin` on both sides, within the range of int64_t. */
static struct range widen(struct range r, uint64_t margin)
{
	uint64_t room_low = (uint64_t)r.low - (uint64_t)INT64_MIN, room_high = (uint64_t)INT64_MAX - (uint64_t)r.high;

	r.low = (int64_t)((uint64_t)r.low - (margin < room_low ? margin : room_low));
	r.high = (int64_t)((uint64_t)r.high + (margin < room_high ? margin : room_high));
	return r;
}

/* `r`, extended by `below` and then upwards to a total of `reach`, because the tail is above. */
static struct range range_extend(struct range r, uint64_t below, uint64_t reach)
{
	r.low = widen((struct range){r.low, r.low}, below).low;
	r.high = widen((struct range){r.low, r.low}, reach).high;
	return r;
}

/* The interval of width `reach` that contains most of the sorted samples: the index of its first
 * sample, and their number. */
static size_t densest(const int64_t *samples, size_t n, uint64_t reach, size_t *most)
{
	size_t best = 0, end = 0;

	*most = 0;
	for (size_t i = 0; i < n; i++) {
		while (end < n && (uint64_t)samples[end] - (uint64_t)samples[i] <= reach)
			end++;
		if (end - i > *most) {
			*most = end - i;
			best = i;
		}
	}
	return best;
}

/* From a little below the lowest sample; values below that are as rare as one in SAMPLES. */
static struct range logarithmic_range(const int64_t *samples, size_t n)
{
	uint64_t below = ((uint64_t)samples[n / 2] - (uint64_t)samples[0]) / 64;

	return range_extend((struct range){samples[0], samples[0]}, below, (1UL << LOG_REACH_BITS) - 1);
}

/* The part of `r` in which samples may be, if these are all. Between some that are far apart there may be none. */
static struct range without_margins(struct range r, const int64_t *samples, size_t n)
{
	const struct range part = {r.low < samples[0] ? samples[0] : r.low,
				   r.high > samples[n - 1] ? samples[n - 1] : r.high};

	return part.low <= part.high ? part : r;
}

void window_place_guessed(struct window *w, const struct span *spans, size_t span_count)
{
	const uint64_t one_pass = WINDOW_BINS - 1;
	int64_t samples[SAMPLES] = {0};
	bool all;
	size_t n = take_samples(spans, span_count, samples, &all), most, first;
	struct range r;

	if (!n) {
		window_place(w, (struct range){0, (int64_t)one_pass});
		return;
	}
	/* If bins of a single value cover nearly all samples, leave a little room below, and the
	 * rest above, where the tail is. */
	first = densest(samples, n, one_pass / 4 * 3, &most);
	r = most < n - n / 8 ? logarithmic_range(samples, n)
			     : range_extend((struct range){samples[first], samples[first]}, one_pass / 8, one_pass);
	if (all)
		r = without_margins(r, samples, n);
	place(w, r, WINDOW_BITS, (uint64_t)r.high - (uint64_t)r.low > one_pass);
}

/* The lowest offset + 1 of a logarithmic bin. */
static uint64_t log_bin_start(size_t bin)
{
	unsigned exponent = (unsigned)(bin >> LOG_BITS);
	uint64_t mantissa = (1UL << LOG_BITS) | (bin & ((1UL << LOG_BITS) - 1));

	if (exponent >= LOG_BITS)
		return mantissa << (exponent - LOG_BITS);
	return (mantissa + (1UL << (LOG_BITS - exponent)) - 1) >> (LOG_BITS - exponent);
}

struct range window_find(const struct window *w, uint64_t rank, uint64_t *before)
{
	uint64_t sum = *before, low, high;
	size_t bin = 0;

	while (bin + 1 < window_bins(w) && sum + w->counts[bin] < rank)
		sum += w->counts[bin++];
	*before = sum;
	low = w->is_log ? log_bin_start(bin) - 1 : (uint64_t)bin << w->shift;
	high = w->is_log ? log_bin_start(bin + 1) - 2 : low + (((uint64_t)1 << w->shift) - 1);
	if (high > w->reach)
		high = w->reach;
	return (struct range){(int64_t)((uint64_t)w->base + low), (int64_t)((uint64_t)w->base + high)};
}
