/*
 * Measures plain spinning on the tick counter, which no pacer on this CPU can surpass. A step that is overtaken by the
 * next one is missed, as in the kernel `rate`.
 *
 *   build/bench/bench_pacer HZ STEPS CPU [OTHER]
 *
 * Meanwhile another thread polls on OTHER for the number of the step, as the sink does: virtual CPUs, or threads of a
 * core, are slower if both are busy, and a cache line that another CPU has read has to be fetched again.
 *
 * Prints "missed SHARE p50 NS p99 NS": the share of missed steps, and the delays of the others.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/npy.h"
#include "judge/analysis/stats.h"
#include "measure/instrument/clock.h"
#include "measure/instrument/pacer.h"
#include "measure/instrument/pinned.h"

struct pacing_run {
	struct clock_conversion clock;
	int64_t hz, steps, missed;
	int64_t *due, *seen; /* ticks */
};

#define OVER INT64_MAX

static _Alignas(64) _Atomic int64_t handed_over;

static void *accompany(void *arg)
{
	(void)arg;
	while (atomic_load_explicit(&handed_over, memory_order_acquire) != OVER)
		cpu_relax();
	return NULL;
}

static void *spin(void *arg)
{
	struct pacing_run *c = arg;
	struct grid_of_ticks grid;
	int64_t now;

	grid_start(&grid, clock_ticks_begin(), c->hz, 0, &c->clock);
	for (int64_t i = 0; i < c->steps; i++) {
		c->due[i] = grid_take(&grid);
		while ((now = clock_ticks_begin()) < c->due[i])
			;
		if (__builtin_expect(now < grid.due, 1))
			c->seen[i] = now;
		else
			c->missed++;
		atomic_store_explicit(&handed_over, i, memory_order_release);
	}
	return NULL;
}

static int64_t *column(int64_t steps)
{
	int64_t *values = calloc((size_t)steps, sizeof(*values));

	for (int64_t i = 0; values && i < steps; i++)
		values[i] = NEVER;
	return values;
}

static int report(const struct pacing_run *c)
{
	struct span span = {c->seen, c->due, (size_t)c->steps};
	struct stats s;

	for (int64_t i = 0; i < c->steps; i++) {
		c->due[i] = clock_to_ns(&c->clock, c->due[i]);
		c->seen[i] = c->seen[i] == NEVER ? NEVER : clock_to_ns(&c->clock, c->seen[i]);
	}
	if (stats_compute(&span, 1, INT64_MAX, &s, NULL) || !s.has_quantile[Q99]) {
		fprintf(stderr, "too few steps were not missed\n");
		return 1;
	}
	printf("missed %.9f p50 %lld p99 %lld\n", (double)c->missed / (double)c->steps, (long long)s.quantile[Q50],
	       (long long)s.quantile[Q99]);
	return 0;
}

/* Returns 0, or prints a message. */
static int start(pthread_t *thread, const char *cpu, void *(*run)(void *), void *arg)
{
	int rc = pinned_start(thread, atoi(cpu), run, arg);

	if (rc)
		fprintf(stderr, "CPU %s: %s\n", cpu, strerror(-rc));
	return rc;
}

int main(int argc, char **argv)
{
	bool asked = argc == 4 || argc == 5;
	struct pacing_run c = {.hz = asked ? atoll(argv[1]) : 0, .steps = asked ? atoll(argv[2]) : 0};
	struct clock_report clock;
	pthread_t thread, other;
	int status;

	if (c.hz < 1 || c.hz > 1000000000 || c.steps < 10000) {
		fprintf(stderr, "usage: %s HZ STEPS CPU [OTHER], of at least 10000 steps\n", argv[0]);
		return 2;
	}
	c.due = column(c.steps);
	c.seen = column(c.steps);
	if (!c.due || !c.seen)
		return 1;
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		perror("mlockall");
	clock_calibrate(100, &clock);
	c.clock = clock_conversion_from(clock_ticks_begin(), clock.hz);
	if ((argc == 5 && start(&other, argv[4], accompany, NULL)) || start(&thread, argv[3], spin, &c))
		return 1;
	pthread_join(thread, NULL);
	atomic_store(&handed_over, OVER);
	if (argc == 5)
		pthread_join(other, NULL);
	status = report(&c);
	free(c.due);
	free(c.seen);
	return status;
}
