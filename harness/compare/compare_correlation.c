#include "compare/compare_correlation.h"

#include <math.h>
#include <stdlib.h>

#include "common/or_abort.h"

struct ranked {
	double value;
	size_t index;
};

static int by_value(const void *a, const void *b)
{
	double x = ((const struct ranked *)a)->value, y = ((const struct ranked *)b)->value;

	return (x > y) - (x < y);
}

/* Replace values by ranks; equal values have their mean rank. */
static void rank(double *value, size_t n)
{
	struct ranked *sorted = or_abort(calloc(n + 1, sizeof(*sorted)));

	for (size_t i = 0; i < n; i++)
		sorted[i] = (struct ranked){value[i], i};
	qsort(sorted, n, sizeof(*sorted), by_value);
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && sorted[k].value == sorted[i].value; k++)
			;
		for (size_t m = i; m < k; m++)
			value[sorted[m].index] = (double)(i + k - 1) / 2;
	}
	free(sorted);
}

static double correlation(const double *x, const double *y, size_t n)
{
	double mean = (double)(n - 1) / 2, xy = 0, xx = 0, yy = 0;

	for (size_t i = 0; i < n; i++) {
		xy += (x[i] - mean) * (y[i] - mean);
		xx += (x[i] - mean) * (x[i] - mean);
		yy += (y[i] - mean) * (y[i] - mean);
	}
	return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

/* Subtract the mean of each arm, because differences between the arms do not count. */
static void centre_arms(const enum compare_arm *arm, double *value, size_t n)
{
	for (enum compare_arm a = 0; a < ARMS; a++) {
		double sum = 0, count = 0;

		for (size_t i = 0; i < n; i++)
			if (arm[i] == a) {
				sum += value[i];
				count++;
			}
		for (size_t i = 0; i < n; i++)
			if (arm[i] == a)
				value[i] -= sum / count;
	}
}

double compare_rank_correlation(const struct compare_runs *runs, const double *x, const double *y)
{
	double *a = or_abort(calloc(runs->count + 1, sizeof(*a))), *b = or_abort(calloc(runs->count + 1, sizeof(*b)));
	enum compare_arm *arm = or_abort(calloc(runs->count + 1, sizeof(*arm)));
	size_t n = 0;
	double r;

	for (size_t i = 0; i < runs->count; i++) {
		if (isnan(x[i]) || isnan(y[i]))
			continue;
		a[n] = x[i];
		b[n] = y[i];
		arm[n++] = runs->run[i].arm;
	}
	centre_arms(arm, a, n);
	centre_arms(arm, b, n);
	rank(a, n);
	rank(b, n);
	r = n > 4 ? correlation(a, b, n) : NAN;
	free(a);
	free(b);
	free(arm);
	return r;
}
