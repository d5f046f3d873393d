/*
 * What the stamps of a program's requests cost it (kblat_stamp.h): a pair of kblat_begin() and kblat_end(), with somebody
 * who takes them, and with nobody. The limits are 50 ns and 3 ns.
 */
#include <stdio.h>

#include "common/err.h"
#include "measure/program/kblat_stamp.h"
#include "tests/bench/bench.h"

#define PAIRS  1000 /* of a batch; they fit into a ring */
#define ROUNDS 2000

static double best_of_batches(struct kblat_stamps *stamps)
{
	double best = 1;

	for (int i = 0; i < ROUNDS; i++) {
		const double start = bench_seconds();
		double took;

		for (uint64_t k = 1; k <= PAIRS; k++) {
			kblat_begin(k);
			kblat_end(k);
		}
		took = bench_seconds() - start;
		best = took < best ? took : best;
		if (stamps)
			stamps->rings[0].read = stamps->rings[0].written;
	}
	return best / PAIRS * 1e9;
}

int main(void)
{
	const double off = best_of_batches(NULL);
	double on;

	kblat_stamps = calloc(1, sizeof(*kblat_stamps));
	if (!kblat_stamps)
		return STATUS_FAILED;
	on = best_of_batches(kblat_stamps);
	printf("a pair of stamps: %.1f ns; with nobody who takes them: %.2f ns\n", on, off);
	if (kblat_stamps->rings[0].lost)
		return STATUS_FAILED;
	free(kblat_stamps);
	return on <= 50 && off <= 3 ? STATUS_OK : STATUS_NO;
}
