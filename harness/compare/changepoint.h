/*
 * Where does the level of a sequence change? PELT (Killick, Fearnhead and Eckley, JASA 107, 2012):
 * the segmentation that costs least, exactly, where a segment costs its squared distances from its
 * mean and each change a penalty. Pure.
 */
#ifndef KBLAT_COMPARE_CHANGEPOINT_H
#define KBLAT_COMPARE_CHANGEPOINT_H

#include <stddef.h>

/*
 * The starts of segments but for the first, rising, into `changes` (room for n): their count.
 * `least` is the shortest segment. The penalty is 3 log n times the variance of the noise, which is
 * taken from the differences of neighbours (their median absolute value, which a few changes do not
 * move). Values that do not vary have no changes.
 */
size_t changepoints(const double *value, size_t n, size_t least, size_t *changes);

#endif
