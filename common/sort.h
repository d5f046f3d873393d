/* Sorting of plain values. */
#ifndef KBLAT_COMMON_SORT_H
#define KBLAT_COMMON_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Rising. */
void sort_doubles(double *values, size_t count);
void sort_integers(int64_t *values, size_t count);

/* The median, the mean of the two in the middle of an even number; NaN if there are none. Sorts the values. */
double sort_median(double *values, size_t count);

#endif
