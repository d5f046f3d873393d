/*
 * How often `kblat compare` errs: compare_rates [COMPARISONS] (500 if it is not given). Runs are made up (tests/unit/synthetic_runs.h:
 * autocorrelated, with what varies between runs and between boots known), summarised, joined and judged as those on disk. The
 * exit status is 1 if false alarms are above 5 %, or what is missed is above 15 %.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/synthetic_runs.h"

/* Clopper and Pearson's upper end at 95 %, one-sided, by bisection of the binomial tail. */
static double upper_95(size_t k, size_t n)
{
	double low = 0, high = 1;

	for (int step = 0; step < 60; step++) {
		double p = (low + high) / 2, below = 0;

		for (size_t i = 0; i <= k; i++)
			below += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) +
				     (double)i * log(p) + (double)(n - i) * log1p(-p));
		if (below > 0.05)
			low = p;
		else
			high = p;
	}
	return high;
}

static double percent(size_t k, size_t n)
{
	return 100. * (double)k / (double)n;
}

static void print_rates(const char *what, const struct synthetic *s, const struct synthetic_rates *r)
{
	size_t n = r->trials;

	printf("%-34s %zu x %zu  seeds %llu-%llu:", what, s->boots, s->runs, (unsigned long long)s->seed,
	       (unsigned long long)s->seed + n - 1);
	printf(" slower %.1f %%, faster %.1f %%, no regression %.1f %%; p50: slower %.1f %%, faster %.1f %%, "
	       "equivalent %.1f %%, "
	       "interval right %.1f %%\n",
	       percent(r->worst[COMPARE_REGRESSION], n), percent(r->worst[COMPARE_IMPROVEMENT], n), percent(r->fine, n),
	       percent(r->median[COMPARE_REGRESSION], n), percent(r->median[COMPARE_IMPROVEMENT], n),
	       percent(r->median[COMPARE_EQUIVALENT], n), percent(r->covered, n));
	fflush(stdout);
}

static struct synthetic_rates measure(const char *what, struct synthetic s, size_t trials)
{
	struct synthetic_rates r = synthetic_rates(&s, trials);

	print_rates(what, &s, &r);
	return r;
}

int main(int argc, char **argv)
{
	size_t trials = argc > 1 ? strtoul(argv[1], NULL, 10) : 500, alarms;
	struct synthetic s = synthetic_usual;
	struct synthetic_rates none, two;
	bool good;

	if (trials < 20) {
		fprintf(stderr, "usage: compare_rates [COMPARISONS]; at least 20\n");
		return 2;
	}
	printf("8 boots of 3 runs of %zu messages an arm; stdev %.2g %% between boots, %.2g %% between runs; "
	       "autocorrelation %.2g\n",
	       s.messages, 100 * s.between_boots, 100 * s.between_runs, s.correlation);
	s.seed = 10000;
	none = measure("A/A", s, trials);
	s.seed = 20000;
	s.slower = 0.02;
	two = measure("2 % slower", s, trials);
	s.seed = 30000;
	s.slower = 0.03;
	measure("3 % slower", s, trials / 5);
	s.seed = 40000;
	s.slower = 0;
	s.boots = 4;
	measure("A/A, 4 boots", s, trials / 5);
	s.boots = 16;
	s.seed = 50000;
	measure("A/A, 16 boots", s, trials / 5);
	alarms = synthetic_alarms(&none);
	good = percent(alarms, trials) <= 5 && percent(two.worst[COMPARE_REGRESSION], trials) >= 85;
	printf("%s: false alarms %.1f %% of %zu (95 %% bound %.1f %%; regressions alone %.1f %%), power for 2 %% of "
	       "the median %.1f "
	       "%%\n",
	       good ? "good" : "BAD", percent(alarms, trials), trials, 100 * upper_95(alarms, trials),
	       percent(none.worst[COMPARE_REGRESSION], trials), percent(two.worst[COMPARE_REGRESSION], trials));
	return !good;
}
