/*
 * Counts how often a bisection names a wrong kernel: compare_bisect [BISECTIONS] (default: 60). Of 8
 * kernels, all from a certain one on are slower; they are compared like kblat boots --bisect
 * does. Prints the table of docs/compare.md. The exit status is 1 if a wrong one is named
 * significantly (95 %) more often than in 5 % of cases.
 */
#include "tests/bench/compare_models.h"

#define KERNELS 8
#define STEPS	3 /* to choose one of 7 kernels */

struct tally {
	size_t right, wrong, undecided;
	double boots; /* of all kernels */
};

/* Compares the first kernel with another one, in new boots; `low`: the lower end of the effect, a share. */
static enum status compare_kernels(struct synthetic *s, bool slower, double effect, const struct compare_rule *rule,
				   double *low, double *boots)
{
	struct synthetic_verdict v;
	size_t n;

	s->slower = slower ? effect : 0;
	s->seed++;
	v = synthetic_sequence(s, rule, &n);
	*low = v.low / 100;
	*boots += 2 * (double)n;
	return v.status;
}

/* Returns the first slow kernel that is found, KERNELS if none; the true one is `first`. */
static void bisect(struct synthetic *s, size_t first, double effect, struct tally *t)
{
	struct compare_rule rule = {.margin = 0.02, .effect = 0.02, .seed = 1, .alpha = 0.01};
	size_t low = 0, high = KERNELS - 1;
	double least, unused;
	enum status status = compare_kernels(s, first < KERNELS, effect, &rule, &least, &t->boots);

	rule.margin = fmin(1, least);
	rule.alpha = 0.04 / STEPS;
	while (status == STATUS_NO && high - low > 1) {
		size_t middle = (low + high) / 2;
		enum status step = compare_kernels(s, middle >= first, effect, &rule, &unused, &t->boots);

		if (step == STATUS_UNDECIDED)
			status = step;
		else if (step == STATUS_NO)
			high = middle;
		else
			low = middle;
	}
	if (status == STATUS_NO)
		++*(high == first ? &t->right : &t->wrong);
	else
		t->undecided++;
}

static bool measure(size_t i, double effect, size_t trials)
{
	const struct model *m = &models[i];
	struct synthetic s = machine_of(m);
	struct tally t = {0};

	s.seed = 1000000 * (i + 1) + (uint64_t)(1e5 * effect);
	s.median_alone = true;
	for (size_t k = 0; k < trials; k++)
		bisect(&s, effect > 0 ? 1 + k % (KERNELS - 1) : KERNELS, effect, &t);
	printf("| %s | %.0f %% | %.1f %% | %.1f %% | %.1f %% | %.0f |\n", m->name, 100 * effect,
	       percent(t.right, trials), percent(t.wrong, trials), percent(t.undecided, trials),
	       t.boots / (double)trials);
	fflush(stdout);
	return !is_above(t.wrong, trials, 0.05);
}

int main(int argc, char **argv)
{
	static const double effects[] = {0, 0.02, 0.05, 0.1};
	size_t trials = trials_of(argc, argv, 60);
	bool good = true;

	if (!trials)
		return 2;
	printf("| %zu bisections each | slower by | the right one | a wrong one | undecided | boots |\n"
	       "| --- | --- | --- | --- | --- | --- |\n",
	       trials);
	for (size_t i = 0; i < MODELS; i++)
		for (size_t k = 0; models[i].bisected && k < sizeof(effects) / sizeof(effects[0]); k++)
			good &= measure(i, effects[k], trials);
	return !good;
}
