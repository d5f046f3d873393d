/*
 * Measures what a message costs in the timed loop: a stamp and its store on each side, and alternately
 * two bare reads of the counter, so that other activity of the machine affects both.
 *
 *   build/bench/bench_stamp
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/npy.h"
#include "measure/instrument/clock.h"
#include "measure/instrument/recorder.h"
#include "tests/bench/bench.h"

#define MESSAGES 200000
#define ROUNDS	 21

static int64_t sum; /* so that the compiler keeps the reads of the bare loop */

static double bare(void)
{
	int64_t start = clock_ticks_begin();

	for (int i = 0; i < MESSAGES; i++)
		sum += clock_ticks_begin() ^ clock_ticks_end();
	return (double)(clock_ticks_end() - start) / MESSAGES;
}

static double stamps(int64_t *subm, int64_t *recv)
{
	int64_t start = clock_ticks_begin();

	for (int i = 0; i < MESSAGES; i++) {
		subm[i] = clock_ticks_begin();
		recv[i] = clock_ticks_end();
	}
	return (double)(clock_ticks_end() - start) / MESSAGES;
}

int main(void)
{
	static const char *const names[] = {"t_subm", "t_recv"};
	struct recorder r;
	struct err e = ERR_INIT;
	struct clock_report clock;
	double a[ROUNDS], b[ROUNDS], ratio[ROUNDS];

	if (recorder_open(&r, "bench", names, 2, MESSAGES, true, -1, &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	clock_calibrate(100, &clock);
	for (int i = 0; i < ROUNDS; i++) {
		a[i] = bare();
		b[i] = stamps(r.column[0].data, r.column[1].data);
		ratio[i] = b[i] / a[i];
		printf("round %2d: bare %.2f ns, stamps %.2f ns\n", i, a[i] * 1e9 / clock.hz, b[i] * 1e9 / clock.hz);
	}
	printf("two bare reads %.1f ns, two stamps with their stores %.1f ns, ratio %.3f (median of %d rounds; must be "
	       "<= 1.2)\n",
	       bench_median(a, ROUNDS) * 1e9 / clock.hz, bench_median(b, ROUNDS) * 1e9 / clock.hz,
	       bench_median(ratio, ROUNDS), ROUNDS);
	recorder_close(&r);
	return sum == 0;
}
