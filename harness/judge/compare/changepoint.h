/*
 * Finds where the level of a sequence changes, with PELT (Killick, Fearnhead and Eckley, JASA 107,
 * 2012): it computes exactly the segmentation of least cost, where a segment costs the squared
 * distances from its mean, and each change costs a penalty. Pure.
 */
#ifndef KBLAT_COMPARE_CHANGEPOINT_H
#define KBLAT_COMPARE_CHANGEPOINT_H

#include <stddef.h>

/*
 * Writes the starts of all segments except for the first to `changes` (room for n), in ascending
 * order, and returns their number. `least` is the minimum length of a segment. The penalty is 3 log
 * n times the variance of the noise, which is estimated from the median absolute difference of
 * neighbours, because a few changes hardly affect it. Constant values have no changes.
 */
size_t changepoints(const double *value, size_t n, size_t least, size_t *changes);

#endif
