/*
 * Measures handing over by spinning between two threads, there and back, and alternately handing over
 * a bare cache line between the same two CPUs; of each round the median of its round trips.
 *
 *   build/bench/bench_handover [CPU CPU]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "measure/instrument/clock.h"
#include "measure/kernels/handover.h"
#include "tests/bench/bench.h"

#define TRIPS  20000
#define ROUNDS 11
#define LIMIT  1.1

struct line {
	_Alignas(64) _Atomic uint32_t word;
};

static struct {
	struct line there, back;
	struct handover give, answer;
	_Alignas(64) _Atomic uint32_t barrier[2];
	int cpu[2];
} shared;

static int64_t trip[2][TRIPS];

static void meet(int side)
{
	const uint32_t mine = atomic_fetch_add(&shared.barrier[side], 1) + 1;

	while (atomic_load(&shared.barrier[!side]) < mine)
		cpu_relax();
}

static void await_line(struct line *l, uint32_t value)
{
	while (atomic_load_explicit(&l->word, memory_order_acquire) != value)
		;
}

static void bare(int side, uint32_t base)
{
	for (uint32_t i = 1; i <= TRIPS; i++) {
		const int64_t start = clock_ticks_begin();

		if (side)
			await_line(&shared.there, base + i);
		atomic_store_explicit(side ? &shared.back.word : &shared.there.word, base + i, memory_order_release);
		if (!side) {
			await_line(&shared.back, base + i);
			trip[0][i - 1] = clock_ticks_end() - start;
		}
	}
}

static void take(struct handover *h)
{
	const void *data;
	uint32_t number;

	while (!handover_take(h, &number, &data))
		cpu_relax();
}

static void ours(int side)
{
	for (uint32_t i = 0; i < TRIPS; i++) {
		const int64_t start = clock_ticks_begin();

		if (side)
			take(&shared.give);
		handover_give(side ? &shared.answer : &shared.give, i, NULL, false);
		if (!side) {
			take(&shared.answer);
			trip[1][i] = clock_ticks_end() - start;
		}
	}
}

static void *other_side(void *arg)
{
	(void)arg;
	bench_pin(shared.cpu[1]);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		meet(1);
		bare(1, i * TRIPS);
		meet(1);
		ours(1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct clock_report clock;
	double ratio[ROUNDS], median;
	pthread_t thread;

	shared.cpu[0] = argc > 2 ? atoi(argv[1]) : 0;
	shared.cpu[1] = argc > 2 ? atoi(argv[2]) : 1;
	clock_calibrate(100, &clock);
	if (pthread_create(&thread, NULL, other_side, NULL))
		return 1;
	bench_pin(shared.cpu[0]);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		meet(0);
		bare(0, i * TRIPS);
		meet(0);
		ours(0);

		const double bare_ns = bench_p50_ns(trip[0], NULL, TRIPS, clock.hz);
		const double ours_ns = bench_p50_ns(trip[1], NULL, TRIPS, clock.hz);

		ratio[i] = ours_ns / bare_ns;
		printf("round %2u: bare %.0f ns there and back, handover %.0f ns, ratio %.2f\n", i, bare_ns, ours_ns,
		       ratio[i]);
	}
	pthread_join(thread, NULL);
	median = bench_median(ratio, ROUNDS);
	printf("p50 of handing over by spinning / a bare cache line, there and back: median ratio %.2f, from %.2f "
	       "to %.2f in %d rounds (must be <= %.1f)\n",
	       median, ratio[0], ratio[ROUNDS - 1], ROUNDS, LIMIT);
	return median <= LIMIT ? 0 : 3;
}
