/*
 * Counts how often `kblat compare` errs: compare_rates [COMPARISONS] (default: 60). Runs are synthetic
 * (tests/unit/synthetic_runs.h: the variation between messages, runs and boots is known), and are
 * summarised, joined and judged like those on disk: 8 boots of 3 runs in each arm, and the margins and what decides as
 * if nothing was asked for.
 * Prints the table of docs/compare.md. The exit status is 1 if real changes are called harmless in
 * significantly (95 %) more than 1 % of cases, or false alarms are significantly above 5 %.
 */
#include "tests/bench/compare_models.h"

static struct synthetic_rates rates_of(const struct model *m, double slower, uint64_t seed, size_t trials)
{
	struct synthetic s = machine_of(m);

	s.slower = slower;
	s.seed = seed;
	return synthetic_rates(&s, trials);
}

/* Prints a row of the table. False: it is worse than promised. */
static bool measure(size_t i, size_t trials)
{
	const struct model *m = &models[i];
	uint64_t seed = 100000 * (i + 1);
	struct synthetic_rates none = rates_of(m, 0, seed, trials), two = rates_of(m, 0.02, seed + 20000, trials),
			       five = rates_of(m, 0.05, seed + 50000, trials);
	size_t alarms = synthetic_alarms(&none), wrong = five.fine;

	printf("| %s | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% |", m->name,
	       percent(alarms, trials), percent(two.worst[COMPARE_REGRESSION], trials),
	       percent(two.median[COMPARE_REGRESSION], trials), percent(five.worst[COMPARE_REGRESSION], trials),
	       percent(wrong, trials), percent(none.median[COMPARE_EQUIVALENT], trials), percent(none.fine, trials));
	return end_row(m, is_as_promised(alarms, wrong, trials));
}

int main(int argc, char **argv)
{
	size_t trials = trials_of(argc, argv, 60);
	bool good = true;

	if (!trials)
		return 2;
	printf("| %zu comparisons each | false alarms | 2 %% found | of these in p50 | 5 %% found | 5 %% called "
	       "harmless | "
	       "quiet: p50 equivalent | quiet: \"no regression\" |\n| --- | --- | --- | --- | --- "
	       "| --- | --- | --- |\n",
	       trials);
	for (size_t i = 0; i < MODELS; i++)
		good &= measure(i, trials);
	return !good;
}
