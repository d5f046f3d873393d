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

/*
 * The share of the time of each CPU that others take from a thread that computes there and never yields, in [0, 1]: a
 * known computation takes more than twice as long as it mostly does. -1: not known. Unlike noise_measure() it does not
 * mistake for that what reading the clock costs, which may be much on an emulated CPU, and where two CPUs read it at
 * once. All CPUs at the same time, for `milliseconds` after `settle_ms`: a hypervisor takes up to 40 ms to give each of
 * several virtual CPUs that became busy a CPU of its own.
 */
void noise_taken(const int *cpu, double *share, size_t count, unsigned settle_ms, unsigned milliseconds, double hz);

/*
 * Time taken from the operating system: by the hypervisor (steal time), or by firmware (system
 * management interrupts, only on Intel processors whose registers may be read).
 */
struct stolen {
	int64_t steal_ms; /* since the boot, in the steps of the kernel's clock tick; -1: not known */
	int64_t smis;	  /* since the boot; -1: not known */
};

/* Of a CPU. */
struct stolen stolen_read(int cpu);

/* How busy all CPUs of this machine together are, from /proc/stat, whose resolution is a hundredth of a second. */
struct machine_load {
	int64_t busy_ns; /* of all CPUs, since boot: neither idle nor taken by a hypervisor; -1: not known */
	int64_t now_ns;	 /* CLOCK_MONOTONIC */
};

struct machine_load machine_load_now(void);

#endif
