/*
 * Where the level of a sequence changes, and which of its values are odd: noise may have heavy tails, and neighbours may depend
 * on each other. Pure.
 */
#ifndef KBLAT_COMPARE_CHANGEPOINT_H
#define KBLAT_COMPARE_CHANGEPOINT_H

#include <stdbool.h>
#include <stddef.h>

#define CHANGEPOINT_LEAST 3 /* values of a level: fewer may be odd ones */

/*
 * Writes the starts of all levels except for the first to `changes` (room for n), in ascending order, and returns their
 * number. `odd` (room for n): far from its neighbours, which agree. `clean` (room for n): the values, of which odd ones and
 * tails are moved towards their neighbours.
 */
size_t changepoints(const double *value, size_t n, size_t *changes, double *clean, bool *odd);

#endif
