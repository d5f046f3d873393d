/* Changes of a level and odd values, on sequences whose truth is known. */
#include "judge/compare/changepoint.h"

#include <math.h>
#include <stdlib.h>

#include "tests/unit/fixture_random.h"
#include "tests/unit/tap.h"

#define MOST 60

static uint64_t state = 99;
static double clean[MOST];
static bool odd[MOST];
static size_t changes[MOST];

static size_t find(const double *value, size_t n)
{
	return changepoints(value, n, changes, clean, odd);
}

static size_t odd_ones(size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += odd[i];
	return count;
}

static void test_levels(void)
{
	double value[40];
	size_t right = 0, false_ones = 0;

	note("seed %llu", (unsigned long long)state);
	for (int trial = 0; trial < 200; trial++) {
		for (size_t i = 0; i < 40; i++)
			value[i] = 7 + 0.01 * fixture_normal(&state) + (i >= 15 ? 0.05 : 0) - (i >= 30 ? 0.04 : 0);
		right += find(value, 40) == 2 && labs((long)changes[0] - 15) <= 1 && labs((long)changes[1] - 30) <= 1;
		for (size_t i = 0; i < 40; i++)
			value[i] = 7 + 0.01 * fixture_normal(&state);
		false_ones += find(value, 40) > 0;
	}
	ok(right >= 150, "two changes of four and five stdev are found where they are in %zu of 200", right);
	ok(false_ones <= 10, "a level that does not change has changes in %zu of 200", false_ones);
}

/* One value that is 20 % off is no level, wherever it is; nor are two. */
static void test_odd(void)
{
	size_t wrong = 0, unnamed = 0, pairs = 0;
	double value[16];

	for (int trial = 0; trial < 64; trial++) {
		const size_t at = (size_t)trial % 16;

		for (size_t i = 0; i < 16; i++)
			value[i] = 7 + 0.01 * fixture_normal(&state);
		value[at] += 0.18;
		wrong += find(value, 16) > 0;
		unnamed += !odd[at];
		value[(at + 8) % 16] -= 0.18;
		pairs += find(value, 16) > 0 || !odd[at] || !odd[(at + 8) % 16];
	}
	is_int((long long)wrong, 0, "one odd value of 16 is no change");
	is_int((long long)unnamed, 0, "and is called odd, at the ends, too");
	is_int((long long)pairs, 0, "nor are two of them");
}

static void test_edges(void)
{
	const double flat[] = {3, 3, 3, 3, 3, 3}, step[] = {1, 1.01, 0.99, 1, 9, 9.01, 8.99, 9};
	const double exact[] = {4349, 4349, 4349, 4349, 4351, 4351, 4351, 4351, 4351, 4351, 4561, 4561, 4561, 4561};
	const double one[] = {5, 5, 5, 9, 5, 5, 5, 5}, few[] = {1, 5, 2};

	is_int((long long)find(exact, 14), 1, "of values that repeat, the large step is a change");
	is_int((long long)changes[0], 10, "at its position");
	is_int((long long)find(flat, 6), 0, "constant values have no changes");
	is_int((long long)odd_ones(6), 0, "and no odd ones");
	is_int((long long)find(one, 8), 0, "nor have those of which one differs");
	ok(odd[3] && odd_ones(8) == 1, "which is odd");
	is_int((long long)find(step, 0), 0, "no values have no changes");
	is_int((long long)find(step, 1), 0, "one value has no changes");
	is_int((long long)find(few, 3), 0, "three have none");
	is_int((long long)find(step, 8), 1, "a step is one change");
	is_int((long long)changes[0], 4, "at its position");
	is_int((long long)odd_ones(8), 0, "and not odd");
}

int main(void)
{
	test_levels();
	test_odd();
	test_edges();
	return done_testing();
}
