/*
 * Sequences of latencies whose truth is known: a normal distribution, outliers, and a pattern.
 */
#ifndef KBLAT_TESTS_UNIT_SERIES_MODEL_H
#define KBLAT_TESTS_UNIT_SERIES_MODEL_H

#include <math.h>
#include <stdlib.h>

#include "analysis/period.h"
#include "common/random.h"

#define MODEL_BASE  3150
#define MODEL_SIGMA 100

static inline double model_uniform(uint64_t *state)
{
	return ((double)random_below(state, UINT64_C(1) << 52) + 0.5) * 0x1p-52;
}

/* Box and Muller (1958). */
static inline double model_normal(uint64_t *state)
{
	const double a = model_uniform(state), b = model_uniform(state);

	return sqrt(-2 * log(a)) * cos(2 * M_PI * b);
}

/* One of 200 takes up to some 50 times as long. */
static inline int64_t model_latency(uint64_t *state)
{
	const double value = MODEL_BASE + MODEL_SIGMA * model_normal(state);

	return (int64_t)(random_below(state, 200) ? value : value * (1 + 0.5 / model_uniform(state)));
}

/* Without a pattern; free(values). */
static inline struct period_sequence model_sequence(size_t count, uint64_t *state)
{
	struct period_sequence s = {calloc(count, sizeof(int64_t)), count};

	for (size_t i = 0; i < count; i++)
		s.values[i] = model_latency(state);
	return s;
}

/* Phases from `first` to `last`, which count from 1, take longer. */
static inline void model_add(struct period_sequence *s, unsigned period, unsigned first, unsigned last, int64_t longer)
{
	for (size_t i = 0; i < s->count; i++)
		if (i % period + 1 >= first && i % period + 1 <= last)
			s->values[i] += longer;
}

/* Just these phases, counted from 1, and no others stand out above. */
static inline bool model_phases_are(const struct phases *p, unsigned first, unsigned last)
{
	bool right = true;

	for (unsigned i = 0; i < p->period; i++)
		right &= p->phase[i].out == (i + 1 >= first && i + 1 <= last);
	return right;
}

#endif
