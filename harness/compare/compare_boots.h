/*
 * How many boots (or runs) an arm are needed to see an effect? Pure.
 */
#ifndef KBLAT_COMPARE_BOOTS_H
#define KBLAT_COMPARE_BOOTS_H

#include <stddef.h>

#define BOOTS_MOST 1000

/* Student's t that is surpassed with probability `tail` (0 < tail < 1/2), df >= 2; within 1 % of
 * the true one for tail >= 1e-4. */
double boots_student(double tail, double df);

/*
 * Units an arm, from `least` on, that show a shift of `effect` with probability `power` where one
 * in `tail` is a false alarm, and where units of one arm vary with `stdev`. BOOTS_MOST if even so many do not.
 */
size_t boots_needed(double effect, double stdev, double tail, double power, size_t least);

#endif
