/*
 * How often `kblat compare` errs: compare_rates [COMPARISONS] (60 if it is not given). Runs are made up
 * (tests/unit/synthetic_runs.h: what varies between messages, runs and boots is known), summarised, joined and judged as
 * those on disk; 8 boots of 3 runs an arm, at a margin of 2 %. Prints the table of docs/compare.md. The exit status is 1 if
 * something real was called harmless in more than 1 %, or false alarms are above 5 %, by more than chance (95 %).
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/synthetic_runs.h"

/* Clopper and Pearson's ends at 95 %, one-sided, by bisection of the binomial tail. */
static double binomial_at_most(size_t k, size_t n, double p)
{
	double below = 0;

	for (size_t i = 0; i <= k; i++)
		below += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) +
			     (double)i * log(p) + (double)(n - i) * log1p(-p));
	return below;
}

static double percent(size_t k, size_t n)
{
	return 100. * (double)k / (double)n;
}

/* Is `k` of `n` more than a rate of `share` gives in 19 of 20 cases? */
static bool is_above(size_t k, size_t n, double share)
{
	return k && 1 - binomial_at_most(k - 1, n, share) < 0.05;
}

/* A machine: how its boots and runs vary, but for `slower` and `seed`. */
struct model {
	const char *name;
	struct synthetic s;
	bool exchangeable; /* boots are alike whatever their order: the test promises 5 % */
};

/* What all have in common. */
static struct synthetic machine_of(const struct model *m)
{
	struct synthetic s = m->s;

	s.boots = 8;
	s.runs = 3;
	s.messages = 2000;
	s.spread = 0.02;
	s.tail = 0.004;
	if (s.correlation == 0)
		s.correlation = 0.5;
	return s;
}

static const struct model models[] = {
    {"boots 0.5 %, runs 0.5 %", {.between_boots = 0.005, .between_runs = 0.005}, true},
    {"boots 1 %, runs 1 %", {.between_boots = 0.01, .between_runs = 0.01}, true},
    {"the same, not alternating", {.between_boots = 0.01, .between_runs = 0.01, .one_arm_first = true}, true},
    {"boots 1 %, runs 3 %", {.between_boots = 0.01, .between_runs = 0.03}, true},
    {"boots 2 %, runs 1 %", {.between_boots = 0.02, .between_runs = 0.01}, true},
    {"1 % and 1 %, messages correlated by 0.95",
     {.between_boots = 0.01, .between_runs = 0.01, .correlation = 0.95},
     true},
    {"1 % and 1 %, warms up by 5 %", {.between_boots = 0.01, .between_runs = 0.01, .warm_up = 0.05}, false},
    {"1 % and 1 %, boots correlated by 0.6",
     {.between_boots = 0.01, .between_runs = 0.01, .boot_correlation = 0.6},
     false},
    {"1 % and 1 %, one boot of 10 slower by 10 %",
     {.between_boots = 0.01, .between_runs = 0.01, .outlier = 0.1, .outlier_by = 0.1},
     true},
    {"boots with heavy tails (t of 3), 1 %; runs 1 %",
     {.between_boots = 0.01, .between_runs = 0.01, .heavy = true},
     true},
    {"0.5 % and 1 %, boots of two kinds 4 % apart",
     {.between_boots = 0.005, .between_runs = 0.01, .modes = 0.04},
     true},
    {"boots by factors of 10", {.between_boots = 2.4, .between_runs = 1}, true},
};

#define MODELS (sizeof(models) / sizeof(models[0]))

static struct synthetic_rates rates_of(const struct model *m, double slower, uint64_t seed, size_t trials)
{
	struct synthetic s = machine_of(m);

	s.slower = slower;
	s.seed = seed;
	return synthetic_rates(&s, trials);
}

/* One row of the table. False: worse than is promised. */
static bool measure(size_t i, size_t trials)
{
	const struct model *m = &models[i];
	uint64_t seed = 100000 * (i + 1);
	struct synthetic_rates none = rates_of(m, 0, seed, trials), two = rates_of(m, 0.02, seed + 20000, trials),
			       five = rates_of(m, 0.05, seed + 50000, trials);
	size_t alarms = synthetic_alarms(&none), wrong = five.fine;
	bool good = !is_above(alarms, trials, 0.05) && !is_above(wrong, trials, 0.01);

	printf("| %s | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% |%s\n", m->name,
	       percent(alarms, trials), percent(two.worst[COMPARE_REGRESSION], trials),
	       percent(two.median[COMPARE_REGRESSION], trials), percent(five.worst[COMPARE_REGRESSION], trials),
	       percent(wrong, trials), percent(none.median[COMPARE_EQUIVALENT], trials),
	       good || !m->exchangeable ? "" : " BAD");
	fflush(stdout);
	return good || !m->exchangeable;
}

int main(int argc, char **argv)
{
	size_t trials = argc > 1 ? strtoul(argv[1], NULL, 10) : 60;
	bool good = true;

	if (trials < 20) {
		fprintf(stderr, "usage: compare_rates [COMPARISONS]; at least 20\n");
		return 2;
	}
	printf("| %zu comparisons each | false alarms | 2 %% found | of these in p50 | 5 %% found | 5 %% called "
	       "harmless | "
	       "nothing changed: p50 equivalent |\n| --- | --- | --- | --- | --- | --- | --- |\n",
	       trials);
	for (size_t i = 0; i < MODELS; i++)
		good &= measure(i, trials);
	return !good;
}
