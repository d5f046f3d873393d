/*
 * Counts how often a comparison with interim looks errs, which ends at the first look that decides
 * (judge/compare/compare_plan.c): compare_looks [COMPARISONS] (default: 60). Prints the table of
 * docs/compare.md. The exit status is 1 if the false alarms of all looks together are significantly
 * (95 %) above 5 %, or real changes are called harmless in significantly more than 1 % of cases.
 */
#include "tests/bench/compare_models.h"

/* The outcomes of many comparisons, and how many boots of each kernel they took. */
struct outcome {
	size_t alarms, found, harmless;
	double boots;
};

static struct outcome outcome_of(const struct model *m, double slower, uint64_t seed, size_t trials)
{
	const struct compare_rule rule = {SYNTHETIC_RULE};
	struct synthetic s = machine_of(m);
	struct outcome o = {0};

	s.slower = slower;
	for (size_t i = 0; i < trials; i++) {
		struct synthetic_verdict v;
		size_t boots;

		s.seed = seed + i;
		v = synthetic_sequence(&s, &rule, &boots);
		o.alarms += v.worst == COMPARE_REGRESSION || v.worst == COMPARE_IMPROVEMENT;
		o.found += v.worst == COMPARE_REGRESSION;
		o.harmless += v.status == STATUS_OK;
		o.boots += (double)boots / (double)trials;
	}
	return o;
}

static bool measure(size_t i, size_t trials)
{
	const struct model *m = &models[i];
	uint64_t seed = 100000 * (i + 31);
	struct outcome none = outcome_of(m, 0, seed, trials), two = outcome_of(m, 0.02, seed + 20000, trials),
		       five = outcome_of(m, 0.05, seed + 50000, trials), ten = outcome_of(m, 0.1, seed + 70000, trials);

	printf("| %s | %.1f %% | %.1f %% (%.1f) | %.1f %% (%.1f) | %.1f %% | %.1f %% (%.1f) |", m->name,
	       percent(none.alarms, trials), percent(two.found, trials), two.boots, percent(five.found, trials),
	       five.boots, percent(five.harmless, trials), percent(ten.found, trials), ten.boots);
	return end_row(m, is_as_promised(none.alarms, five.harmless, trials));
}

int main(int argc, char **argv)
{
	size_t trials = trials_of(argc, argv, 60);
	bool good = true;

	if (!trials)
		return 2;
	printf(
	    "| %zu comparisons each | false alarms | 2 %% found (boots) | 5 %% found (boots) | 5 %% called harmless | "
	    "10 %% found (boots) |\n| --- | --- | --- | --- | --- | --- |\n",
	    trials);
	for (size_t i = 0; i < MODELS; i++)
		good &= measure(i, trials);
	return !good;
}
