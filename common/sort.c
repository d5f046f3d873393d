#include "common/sort.h"

#include <math.h>
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

double sort_median(double *values, size_t count)
{
	sort_doubles(values, count);
	return count ? (values[(count - 1) / 2] + values[count / 2]) / 2 : NAN;
}
