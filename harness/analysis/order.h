/*
 * The order of many values, without comparing them: a radix sort by bytes, of which only those are
 * looked at that differ. O(n) for each.
 */
#ifndef KBLAT_ANALYSIS_ORDER_H
#define KBLAT_ANALYSIS_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* Indices of values[], the smallest value first, equal ones in their own order, into order[]; `spare`
 * has room for as many. */
void order_of(const int64_t *values, size_t count, uint32_t *order, uint32_t *spare);

#endif
