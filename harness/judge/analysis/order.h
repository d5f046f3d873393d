/*
 * The order of many values, without comparing them: a radix sort by bytes that skips bytes in which
 * all values are equal. O(n) per byte.
 */
#ifndef KBLAT_ANALYSIS_ORDER_H
#define KBLAT_ANALYSIS_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* Write the indices of values[] to order[], smallest value first; the sort is stable. order[] and
 * spare[] have room for `count` entries. */
void order_of(const int64_t *values, size_t count, uint32_t *order, uint32_t *spare);

#endif
