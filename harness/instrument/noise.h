/*
 * What takes a CPU away from a thread that never lets go of it: interrupts, other threads, the hypervisor, the
 * firmware. A pinned thread reads the clock and nothing else; two reads further apart than a microsecond are a gap.
 */
#ifndef KBLAT_INSTRUMENT_NOISE_H
#define KBLAT_INSTRUMENT_NOISE_H

#include <stddef.h>
#include <stdint.h>

#define NOISE_GAP_NS 1000

struct noise {
	int cpu; /* in */
	int rc;	 /* 0, or the negative errno of starting a thread there */
	int64_t duration_ns;
	int64_t gaps; /* longer than NOISE_GAP_NS */
	int64_t longest_ns;
	int64_t lost_ns;   /* in gaps, all together */
	int64_t preempted; /* times that another thread was put in its place */
};

/* Spin for `milliseconds` on all CPUs of `n` at once. `hz`: of the tick clock. Returns when all are done. */
void noise_measure(struct noise *n, size_t count, unsigned milliseconds, double hz);

#endif
