/*
 * Counts how often `kblat history` errs: history_rates [SERIES] (default: 2000). Prints the table of docs/compare.md: in how
 * many series without a change it shows one, and in how many it finds a step of 2 % half-way. The exit status is 1 if the
 * first is significantly (95 %) more than 5 % where that is promised, or the second significantly less than 90 %.
 */
#include <math.h>
#include <stdlib.h>

#include "judge/compare/changepoint.h"
#include "tests/bench/compare_models.h"

struct noise {
	const char *name;
	double dependence; /* of a boot on the one before */
	bool heavy;	   /* Student's t of 3 */
	double odd;	   /* share of boots that are slower by 20 % */
	bool promised;
};

static const struct noise noises[] = {
    {"normal", 0, false, 0, true},
    {"heavy tails (t of 3)", 0, true, 0, true},
    {"depends on the boot before by 0.3", 0.3, false, 0, true},
    {"by 0.6", 0.6, false, 0, true},
    {"by 0.6, heavy tails", 0.6, true, 0, false},
    {"normal, one boot of 50 is 20 % slower", 0, false, 0.02, true},
};

#define NOISES (sizeof(noises) / sizeof(noises[0]))
#define STEP   0.02
#define BOOTS  200 /* most of a series */

static double fresh_noise(const struct noise *m, uint64_t *state)
{
	double z = synthetic_normal(state), sum = 0;

	for (int k = 0; m->heavy && k < 3; k++) {
		const double x = synthetic_normal(state);

		sum += x * x;
	}
	return m->heavy ? z / sqrt(sum) : z; /* t / sqrt(3): its variance is 1 */
}

/* Of a series of `boots` with that standard deviation: is there a change, and the step, if there is one, where it is? */
static bool is_found(const struct noise *m, size_t boots, double deviation, double step, uint64_t *state)
{
	double value[BOOTS], clean[BOOTS], z = fresh_noise(m, state);
	size_t changes[BOOTS], count;
	bool odd[BOOTS], is_near = false;

	for (size_t i = 0; i < 20 + boots; i++) {
		z = m->dependence * z + sqrt(1 - m->dependence * m->dependence) * fresh_noise(m, state);
		if (i >= 20)
			value[i - 20] = deviation * z + (fixture_uniform(state) < m->odd ? log(1.2) : 0) +
					(i - 20 >= boots / 2 ? step : 0);
	}
	count = changepoints(value, boots, changes, clean, odd);
	for (size_t k = 0; k < count; k++)
		is_near |= labs((long)changes[k] - (long)(boots / 2)) <= 3;
	return step > 0 ? is_near : count > 0;
}

static size_t count_found(const struct noise *m, size_t boots, double deviation, double step, size_t series)
{
	uint64_t state = 1 + boots;
	size_t found = 0;

	for (size_t i = 0; i < series; i++)
		found += is_found(m, boots, deviation, step, &state);
	return found;
}

static bool measure(const struct noise *m, size_t boots, size_t series)
{
	const size_t alarms = count_found(m, boots, 0.005, 0, series),
		     half = count_found(m, boots, 0.005, STEP, series), one = count_found(m, boots, 0.01, STEP, series);
	const bool good =
	    !m->promised || (!is_above(alarms, series, 0.05) && (boots < 40 || !is_above(series - half, series, 0.1)));

	printf("| %s | %zu | %.1f %% | %.1f %% | %.1f %% |%s\n", m->name, boots, percent(alarms, series),
	       percent(half, series), percent(one, series), good ? "" : " BAD");
	return good;
}

int main(int argc, char **argv)
{
	static const size_t boots[] = {12, 20, 40, 100};
	const size_t series = trials_of(argc, argv, 2000);
	bool good = true;

	if (!series)
		return 2;
	printf("| noise between boots | boots | a change where there is none | 2 %% found: noise 0.5 %% | 1 %% |\n"
	       "| --- | --- | --- | --- | --- |\n");
	for (size_t i = 0; i < NOISES; i++)
		for (size_t k = 0; k < sizeof(boots) / sizeof(boots[0]); k++)
			good &= measure(&noises[i], boots[k], series);
	return !good;
}
