/*
 * Shared by the benchmarks: a thread on one CPU, the median of stamps, the median of rounds.
 */
#ifndef KBLAT_TESTS_BENCH_BENCH_H
#define KBLAT_TESTS_BENCH_BENCH_H

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "judge/analysis/stats.h"

static inline void bench_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		perror("sched_setaffinity");
}

static inline double bench_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* The median of a - b (b NULL: of a), in ns; stamps are ticks of a clock of `hz`. */
static inline double bench_p50_ns(const int64_t *a, const int64_t *b, size_t count, double hz)
{
	struct span span = {a, b, count};
	struct stats stats;

	if (stats_compute(&span, 1, INT64_MAX, &stats, NULL))
		exit(1);
	return (double)stats.quantile[Q50] * 1e9 / hz;
}

static inline int bench_by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The median of `n` values, which are sorted in place. */
static inline double bench_median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), bench_by_value);
	return values[n / 2];
}

#endif
