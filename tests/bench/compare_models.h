/*
 * Shared by the simulations of `kblat compare`: machines whose boots and runs vary in a known way, with 8
 * boots of 3 runs in each arm.
 */
#ifndef KBLAT_TESTS_BENCH_COMPARE_MODELS_H
#define KBLAT_TESTS_BENCH_COMPARE_MODELS_H

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/synthetic_runs.h"

/* The one-sided 95 % limits of Clopper and Pearson, by bisection of the binomial tail. */
static inline double binomial_at_most(size_t k, size_t n, double p)
{
	double below = 0;

	for (size_t i = 0; i <= k; i++)
		below += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) +
			     (double)i * log(p) + (double)(n - i) * log1p(-p));
	return below;
}

static inline double percent(size_t k, size_t n)
{
	return 100. * (double)k / (double)n;
}

/* Is `k` of `n` more than what a rate of `share` gives in 19 of 20 cases? */
static inline bool is_above(size_t k, size_t n, double share)
{
	return k && 1 - binomial_at_most(k - 1, n, share) < 0.05;
}

/* A machine: how its boots and runs vary; `slower` and `seed` are set later. */
struct model {
	const char *name;
	struct synthetic s;
	bool exchangeable; /* the order of boots does not matter, so the test promises 5 % */
	bool bisected;	   /* also in the table of bisections */
};

/* The same for all machines. */
static inline struct synthetic machine_of(const struct model *m)
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
    {"boots 0.5 %, runs 0.5 %", {.between_boots = 0.005, .between_runs = 0.005}, true, true},
    {"boots 1 %, runs 1 %", {.between_boots = 0.01, .between_runs = 0.01}, true, true},
    {"the same, not alternating", {.between_boots = 0.01, .between_runs = 0.01, .one_arm_first = true}, true},
    {"the same, not alternating, and drifts by 3 %",
     {.between_boots = 0.01, .between_runs = 0.01, .one_arm_first = true, .drift = 0.03},
     false},
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
     true,
     true},
    {"boots with heavy tails (t of 3), 1 %; runs 1 %",
     {.between_boots = 0.01, .between_runs = 0.01, .heavy = true},
     true},
    {"0.5 % and 1 %, boots of two kinds 4 % apart",
     {.between_boots = 0.005, .between_runs = 0.01, .modes = 0.04},
     true},
    {"boots by factors of 10", {.between_boots = 2.4, .between_runs = 1}, true, true},
    {"boots 0.3 %, runs 0.3 %", {.between_boots = 0.003, .between_runs = 0.003}, true},
};

#define MODELS (sizeof(models) / sizeof(models[0]))

/* The number of comparisons on the command line; 0 after printing how to use it. */
static inline size_t trials_of(int argc, char **argv, size_t otherwise)
{
	size_t trials = argc > 1 ? strtoul(argv[1], NULL, 10) : otherwise;

	if (trials >= 20)
		return trials;
	fprintf(stderr, "usage: %s [COMPARISONS]; at least 20\n", argv[0]);
	return 0;
}

/* Are the rates as promised: false alarms in at most 5 %, and 5 % slower called harmless in at most 1 % of cases? */
static inline bool is_as_promised(size_t alarms, size_t harmless, size_t trials)
{
	return !is_above(alarms, trials, 0.05) && !is_above(harmless, trials, 0.01);
}

/* Ends the row of a model, with a mark if it is worse than promised. Returns whether it is good enough. */
static inline bool end_row(const struct model *m, bool good)
{
	printf("%s\n", good || !m->exchangeable ? "" : " BAD");
	fflush(stdout);
	return good || !m->exchangeable;
}

#endif
