#include "analysis/whitening.h"

#include <math.h>
#include <string.h>

#include "common/sort.h"

#define HALF_LEAST 2  /* entries on each side of a median: at low frequencies, where drift is steep */
#define HALF_MOST  32 /* the same at high frequencies */
#define STEP_MOST  16 /* entries that share a median */
#define AROUND	   (2 * HALF_MOST + STEP_MOST)
#define FLOOR	   1e-3 /* as a share of the mean: without noise there is nothing between lines */

static size_t clamp(size_t value, size_t least, size_t most)
{
	return value < least ? least : value > most ? most : value;
}

static double median_around(const double *power, size_t half_size, size_t first, size_t step)
{
	const size_t half = clamp(first / 2, HALF_LEAST, HALF_MOST);
	const size_t from = first > half ? first - half : 1;
	const size_t to = first + step + half < half_size ? first + step + half : half_size;
	double values[AROUND] = {0};
	size_t n = 0;

	for (size_t k = from; k < to; k++)
		values[n++] = power[k];
	sort_doubles(values, n);
	return values[n / 2];
}

static double sum_of(const double *power, size_t count)
{
	double sum = 0;

	for (size_t k = 1; k < count; k++)
		sum += power[k];
	return sum;
}

static void find_levels(const double *power, size_t half_size, double least, double *level)
{
	size_t step;

	for (size_t first = 1; first <= half_size; first += step) {
		const size_t left = half_size + 1 - first;
		double median;

		step = clamp(first / 4, 1, STEP_MOST);
		median = fmax(median_around(power, half_size, first, step), least);

		for (size_t k = 0; k < step && k < left; k++)
			level[first + k] = median;
	}
}

void whitening_divide(double *power, size_t size, double *medians)
{
	const size_t half_size = size / 2;
	const double before = sum_of(power, size);
	double scale;

	memset(medians, 0, size * sizeof(*medians));
	if (before <= 0)
		return;
	find_levels(power, half_size, FLOOR * before / (double)size, medians);
	for (size_t k = 1; k <= half_size; k++)
		power[k] = power[size - k] = power[k] / medians[k];
	scale = before / sum_of(power, size);
	for (size_t k = 1; k < size; k++)
		power[k] *= scale;
	for (size_t k = 1; k <= half_size; k++)
		medians[size - k] = medians[k];
}
