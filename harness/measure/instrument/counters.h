/*
 * What happened to a thread during a measured interval: page faults, context switches, migrations. The operating system
 * counts these (getrusage(RUSAGE_THREAD), /proc/thread-self/sched and schedstat); its counters are read before and after the
 * interval, never within. common/counters.def lists the counters.
 */
#ifndef KBLAT_INSTRUMENT_COUNTERS_H
#define KBLAT_INSTRUMENT_COUNTERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct counters {
#define X(name, help) int64_t name;
#include "common/counters.def"
#undef X
};

struct usage_mark {
	int64_t minor, major, voluntary, involuntary, migrations, waited_ns;
	int64_t cpu_ns;
	int cpu;
	int cycles_fd; /* -1: not counted */
	int64_t ticks;
};

/* Called by the measuring thread itself, right before and right after its loop. */
void usage_begin(struct usage_mark *m, bool counts_cycles);
void usage_end(const struct usage_mark *m, struct counters *c);

/* The CPU time of this thread so far. */
int64_t thread_cpu_ns(void);

/* Add another thread's counters (sums; cpu_*, pinned, locked, duration stay the first's). */
void counters_add(struct counters *to, const struct counters *from);
json_t *counters_json(const struct counters *c);

#endif
