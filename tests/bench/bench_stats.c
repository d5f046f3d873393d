/*
 * Measures how fast statistics are computed, and checks that they are exact:
 *
 *   bench_stats [--shape NAME] [SAMPLES...]          (default: all shapes, 10 and 100 million)
 *
 * Input are columns of stamps in memory, as a run leaves them: t_subm, and t_recv with latencies of a
 * shape in shapes[]. Each line is the best of three. "more memory" is the peak in addition to the
 * columns. Unless there are too many samples, every quantile is compared with sorting.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/err.h"
#include "common/npy.h"
#include "tests/bench/bench.h"

#define SORT_MAX 10000000

static uint64_t state = 88172645463325252u;

static double uniform(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state >> 11) * 0x1p-53;
}

/* Busy polling: a little over 1.2 us, and one in a hundred in a tail up to milliseconds that falls with the square. */
static int64_t long_tail(void)
{
	double u = uniform();

	if (u < 0.99)
		return (int64_t)(1200 - 60 * log(1 - u));
	return (int64_t)(1500 / sqrt((1 - u) * 100 + 1e-9));
}

/* An event channel on an idle machine: widely spread, because half of the time the CPU sleeps; some are a second late. */
static int64_t far_apart(void)
{
	double u = uniform();

	if (u < 0.5)
		return (int64_t)(30000 + 4e5 * uniform());
	if (u < 0.97)
		return (int64_t)(50e6 + 400e6 * uniform());
	return (int64_t)(1e9 + 9e9 * uniform());
}

/* Nearly all lie in the window, but the neighbours of the tail quantiles do not. */
static int64_t two_worlds(void)
{
	double u = uniform();

	return u < 0.985 ? (int64_t)(1200 + 400 * u) : (int64_t)(2e6 + 1e9 * uniform());
}

static const struct {
	const char *name;
	int64_t (*draw)(void);
} shapes[] = {
    {"long tail", long_tail},
    {"far apart", far_apart},
    {"two worlds", two_worlds},
};

static double peak_mib(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (double)r.ru_maxrss / 1024;
}

/* Populated, so that page faults and the memory of the columns are not measured. */
static int64_t *column(size_t n)
{
	int64_t *p =
	    mmap(NULL, n * sizeof(*p), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (p == MAP_FAILED) {
		perror("columns");
		exit(STATUS_FAILED);
	}
	return p;
}

static void fill(int64_t *recv, int64_t *subm, size_t n, int64_t (*draw)(void))
{
	for (size_t i = 0; i < n; i++) {
		subm[i] = (int64_t)i * 1000;
		recv[i] = uniform() < 1e-5 ? NEVER : subm[i] + draw();
	}
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Returns 0 if every quantile equals that found by sorting. */
static int check(const struct span *s, const struct stats *got, double *took)
{
	int64_t *sorted = column(s->count);
	size_t n = 0;
	double start = bench_seconds();
	int wrong = 0;

	for (size_t i = 0; i < s->count; i++)
		if (s->a[i] != NEVER)
			sorted[n++] = s->a[i] - s->b[i];
	qsort(sorted, n, sizeof(*sorted), compare);
	*took = bench_seconds() - start;
	wrong |= n != got->n || sorted[0] != got->min || sorted[n - 1] != got->max;
	for (unsigned q = 0; q < QUANTILES; q++) {
		size_t rank = (size_t)ceill((long double)n * quantile_millionths[q] / 1e6L);

		wrong |= got->has_quantile[q] && sorted[rank - 1] != got->quantile[q];
	}
	munmap(sorted, s->count * sizeof(*sorted));
	return wrong;
}

static int bench(size_t n, size_t shape)
{
	int64_t *recv = column(n), *subm = column(n);
	struct span span = {recv, subm, n};
	double best = INFINITY, before, more, sorting;
	struct stats got;
	int wrong = 0;

	fill(recv, subm, n, shapes[shape].draw);
	before = peak_mib();
	for (int round = 0; round < 3; round++) {
		double start = bench_seconds();

		if (stats_compute(&span, 1, 10000, &got, NULL))
			return 1;
		best = fmin(best, bench_seconds() - start);
	}
	more = peak_mib() - before;
	printf("%-10s %11zu samples  %7.4f s  %5.1f MiB more memory  p50 %" PRId64 "  p99.99 %" PRId64 "  max %" PRId64,
	       shapes[shape].name, n, best, more, got.quantile[Q50], got.quantile[Q99_99], got.max);
	if (n <= SORT_MAX) {
		wrong = check(&span, &got, &sorting);
		printf("  %s a sort of %.2f s", wrong ? "DIFFERS from" : "equals", sorting);
	}
	putchar('\n');
	munmap(recv, n * sizeof(*recv));
	munmap(subm, n * sizeof(*subm));
	return wrong;
}

/* In a process of its own, because the peak of a process never falls. */
static int bench_apart(size_t n, size_t shape)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		int wrong = bench(n, shape);

		fflush(stdout);
		_exit(wrong);
	}
	return child < 0 || waitpid(child, &status, 0) < 0 || status != 0;
}

int main(int argc, char **argv)
{
	static char *usual[] = {"10000000", "100000000"};
	const char *only = argc > 2 && !strcmp(argv[1], "--shape") ? argv[2] : NULL;
	int first = only ? 3 : 1;
	char **sizes = argc > first ? argv + first : usual;
	int count = argc > first ? argc - first : 2, wrong = 0;

	for (int i = 0; i < count; i++)
		for (size_t shape = 0; shape < sizeof(shapes) / sizeof(shapes[0]); shape++)
			if (!only || !strcmp(only, shapes[shape].name))
				wrong |= bench_apart((size_t)strtoull(sizes[i], NULL, 10), shape);
	return wrong ? STATUS_FAILED : STATUS_OK;
}
