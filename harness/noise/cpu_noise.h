/*
 * Who takes time from a CPU: a thread spins on each and notes when it did not run, the kernel's events say who did instead
 * (trace/trace.h, analysis/timeline.h). As for messages, without any.
 */
#ifndef KBLAT_NOISE_CPU_NOISE_H
#define KBLAT_NOISE_CPU_NOISE_H

#include <jansson.h>
#include <stdint.h>

#include "analysis/cause.h"
#include "common/cpulist.h"

struct err;

#define CPU_NOISE_GAP_NS 1000 /* of a spinning thread: what is shorter is not noted */

struct cpu_noise_cause {
	unsigned cause;
	uint64_t times;
	int64_t total_ns, longest_ns;
};

struct cpu_noise_cpu {
	int cpu;
	int64_t watched_ns, taken_ns, longest_ns;
	uint64_t times;
	bool complete;			/* no event and no gap was lost */
	int64_t steal_ms;		/* as in instrument/stolen.h; -1: not known */
	struct cpu_noise_cause *causes; /* the most time first */
	size_t count;
};

struct cpu_noise {
	struct cause_table causes;
	struct cpu_noise_cpu *cpus;
	size_t count;
};

/* All of them at once, for so long. STATUS_IMPOSSIBLE where the kernel may not be traced. Free in either case. */
int cpu_noise_watch(const struct cpulist *cpus, unsigned milliseconds, struct cpu_noise *out, struct err *e);
void cpu_noise_free(struct cpu_noise *n);

/* [{"class", "name", "times", "total_ns", "longest_ns", "advice"}]: a new object. */
json_t *cpu_noise_causes_json(const struct cpu_noise *n, const struct cpu_noise_cpu *c);

#endif
