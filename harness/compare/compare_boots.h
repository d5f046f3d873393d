/*
 * How many boots (or runs) per arm are needed to detect an effect? Pure.
 */
#ifndef KBLAT_COMPARE_BOOTS_H
#define KBLAT_COMPARE_BOOTS_H

#include <stddef.h>

#define BOOTS_MOST 1000

/* The value that Student's t with `df` >= 2 degrees of freedom exceeds with probability `tail` (0 <
 * tail < 1/2); within 1 % of the true one for tail >= 1e-4. */
double boots_student(double tail, double df);

/*
 * The number of units per arm, at least `least`, that detect a shift of `effect` with probability
 * `power`, where `tail` is the probability of a false alarm in the direction of the shift, and
 * `stdev` the standard deviation of the units of one arm. BOOTS_MOST if even that many do not.
 */
size_t boots_needed(double effect, double stdev, double tail, double power, size_t least);

#endif
