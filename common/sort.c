#include "common/sort.h"

#include <stdlib.h>

static int by_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void sort_doubles(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_double);
}

static int by_integer(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

void sort_integers(int64_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_integer);
}
