/* Changes of a level, against a search of all segmentations, and on sequences whose truth is known. */
#include <math.h>

#include "common/random.h"
#include "judge/compare/history.h"
#include "tests/unit/tap.h"

static uint64_t state = 99;

static double normal(void)
{
	double a = ((double)random_below(&state, 1 << 30) + 0.5) / (1 << 30);
	double b = ((double)random_below(&state, 1 << 30) + 0.5) / (1 << 30);

	return sqrt(-2 * log(a)) * cos(2 * M_PI * b);
}

static void test_levels(void)
{
	double value[40];
	size_t changes[40], count, right = 0, false_ones = 0;

	note("seed %llu", (unsigned long long)state);
	for (int trial = 0; trial < 200; trial++) {
		for (size_t i = 0; i < 40; i++)
			value[i] = 7 + 0.01 * normal() + (i >= 15 ? 0.05 : 0) - (i >= 30 ? 0.04 : 0);
		count = changepoints(value, 40, 2, changes);
		right += count == 2 && labs((long)changes[0] - 15) <= 1 && labs((long)changes[1] - 30) <= 1;
		for (size_t i = 0; i < 40; i++)
			value[i] = 7 + 0.01 * normal();
		false_ones += changepoints(value, 40, 2, changes) > 0;
	}
	ok(right >= 150, "two changes of four and five stdev are found where they are in %zu of 200", right);
	ok(false_ones <= 20, "a level that does not change has changes in %zu of 200", false_ones);
}

static void test_edges(void)
{
	const double flat[] = {3, 3, 3, 3, 3, 3}, step[] = {1, 1.01, 0.99, 1, 9, 9.01, 8.99, 9};
	const double exact[] = {4349, 4349, 4349, 4349, 4351, 4351, 4351, 4351, 4351, 4351, 4561, 4561, 4561, 4561};
	size_t changes[14];

	is_int((long long)changepoints(exact, 14, 2, changes), 1, "of values that repeat, the large step is a change");
	is_int((long long)changes[0], 10, "at its position");
	is_int((long long)changepoints(flat, 6, 2, changes), 0, "constant values have no changes");
	is_int((long long)changepoints(step, 0, 2, changes), 0, "no values have no changes");
	is_int((long long)changepoints(step, 1, 2, changes), 0, "one value has no changes");
	is_int((long long)changepoints(step, 8, 2, changes), 1, "a step is one change");
	is_int((long long)changes[0], 4, "at its position");
}

/* The least cost over all 2^(n-1) segmentations, with the same penalty: PELT leaves out nothing that could be best. */
static double segment_cost(const double *value, size_t from, size_t to)
{
	double mean = 0, sum = 0;

	for (size_t i = from; i < to; i++)
		mean += value[i] / (double)(to - from);
	for (size_t i = from; i < to; i++)
		sum += (value[i] - mean) * (value[i] - mean);
	return sum;
}

static double total_cost(const double *value, size_t n, unsigned starts, double penalty)
{
	double sum = 0;
	size_t from = 0;

	for (size_t i = 1; i <= n; i++)
		if (i == n || starts >> i & 1) {
			sum += segment_cost(value, from, i) + (from ? penalty : 0);
			from = i;
		}
	return sum;
}

static int rising(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void test_exact(void)
{
	bool exact = true;

	for (int trial = 0; trial < 30; trial++) {
		double value[12], differences[11], variance, penalty, least = INFINITY;
		size_t changes[12], count;
		unsigned found = 0;

		for (size_t i = 0; i < 12; i++)
			value[i] = normal() + (i > 3 ? 4 : 0) - (i > 8 ? 3 : 0);
		for (size_t i = 0; i < 11; i++)
			differences[i] = fabs(value[i + 1] - value[i]);
		qsort(differences, 11, sizeof(double), rising);
		variance = pow(differences[5] / 0.6745, 2) / 2;
		penalty = 3 * log(12) * variance;
		for (unsigned starts = 0; starts < 1u << 12; starts += 2)
			least = fmin(least, total_cost(value, 12, starts, penalty));
		count = changepoints(value, 12, 1, changes);
		for (size_t i = 0; i < count; i++)
			found |= 1u << changes[i];
		exact &= fabs(total_cost(value, 12, found, penalty) - least) < 1e-9;
	}
	ok(exact, "no segmentation costs less");
}

int main(void)
{
	test_levels();
	test_edges();
	test_exact();
	return done_testing();
}
