/*
 * Random text, for unique names and tokens; and reproducible random numbers from a seed.
 */
#ifndef KBLAT_COMMON_RANDOM_H
#define KBLAT_COMMON_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* `digits` (even, at most 64) hexadecimal digits and a NUL. 0 or a negative errno: then they are zeros. */
int random_hex(char *text, size_t digits);

/* The next of a sequence below `n` (at least 1); `*state` is the seed at first: SplitMix64 (Steele, Lea and Flood
 * 2014). */
uint64_t random_below(uint64_t *state, uint64_t n);

/* Put `n` entries into random order (Fisher and Yates). */
void random_shuffle(size_t *order, size_t n, uint64_t *state);

#endif
