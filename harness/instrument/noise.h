/*
 * Detects what takes a CPU away from a thread that never yields it: interrupts, other threads, the hypervisor, the
 * firmware. A pinned thread only reads the clock; if two reads are more than a microsecond apart, that is a gap.
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
	int64_t lost_ns;   /* total time of all gaps */
	int64_t preempted; /* number of times that another thread ran instead */
};

/* Spin for `milliseconds` on all CPUs of `n` at the same time. `hz`: frequency of the tick counter. Returns when all
 * are done. */
void noise_measure(struct noise *n, size_t count, unsigned milliseconds, double hz);

#endif
