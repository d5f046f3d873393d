/*
 * Sequences of latencies whose truth is known: a normal distribution, outliers, and a pattern.
 */
#ifndef KBLAT_TESTS_UNIT_SERIES_MODEL_H
#define KBLAT_TESTS_UNIT_SERIES_MODEL_H

#include <stdlib.h>

#include "judge/analysis/period.h"
#include "tests/unit/fixture_random.h"

#define MODEL_BASE  3150
#define MODEL_SIGMA 100

/* One of 200 takes up to some 50 times as long. */
static inline int64_t model_latency(uint64_t *state)
{
	const double value = MODEL_BASE + MODEL_SIGMA * fixture_normal(state);

	return (int64_t)(random_below(state, 200) ? value : value * (1 + 0.5 / fixture_uniform(state)));
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
