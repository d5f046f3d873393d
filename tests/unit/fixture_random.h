/* Random numbers of a distribution, which a seed repeats. */
#ifndef KBLAT_TESTS_FIXTURE_RANDOM_H
#define KBLAT_TESTS_FIXTURE_RANDOM_H

#include <math.h>

#include "common/random.h"

/* Between 0 and 1, neither of them. */
static inline double fixture_uniform(uint64_t *state)
{
	return ((double)random_below(state, UINT64_C(1) << 52) + 0.5) * 0x1p-52;
}

/* Box and Muller (1958). */
static inline double fixture_normal(uint64_t *state)
{
	const double a = fixture_uniform(state), b = fixture_uniform(state);

	return sqrt(-2 * log(a)) * cos(2 * M_PI * b);
}

#endif
