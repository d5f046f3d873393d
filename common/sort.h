/* Sorting of plain values. */
#ifndef KBLAT_COMMON_SORT_H
#define KBLAT_COMMON_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Rising. */
void sort_doubles(double *values, size_t count);
void sort_integers(int64_t *values, size_t count);

#endif
