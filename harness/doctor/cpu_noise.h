/*
 * Finds out what takes time from CPUs. A thread spins on each CPU and records when it did not run;
 * the kernel's events tell what ran instead (measure/trace/trace.h, judge/analysis/timeline.h). This is the
 * method used for late messages, but it does not need messages.
 */
#ifndef KBLAT_NOISE_CPU_NOISE_H
#define KBLAT_NOISE_CPU_NOISE_H

#include <jansson.h>
#include <stdint.h>

#include "common/cpulist.h"
#include "judge/analysis/cause.h"

struct err;

#define CPU_NOISE_GAP_NS 1000 /* shorter gaps of the spinning thread are not recorded */

struct cpu_noise_cause {
	unsigned cause;
	uint64_t times;
	int64_t total_ns, longest_ns;
};

struct cpu_noise_cpu {
	int cpu;
	int64_t watched_ns, taken_ns, longest_ns;
	uint64_t times;
	bool complete;			/* neither events nor gaps were lost */
	int64_t steal_ms;		/* as in struct stolen; -1: unknown */
	struct cpu_noise_cause *causes; /* longest total time first */
	size_t count;
};

struct cpu_noise {
	struct cause_table causes;
	struct cpu_noise_cpu *cpus;
	size_t count;
};

/* Watch all CPUs at the same time, for `milliseconds`. STATUS_IMPOSSIBLE if tracing the kernel is
 * not permitted. Free in any case. */
int cpu_noise_watch(const struct cpulist *cpus, unsigned milliseconds, struct cpu_noise *out, struct err *e);
void cpu_noise_free(struct cpu_noise *n);

/* [{"class", "name", "times", "total_ns", "longest_ns", "advice"}]: a new object. */
json_t *cpu_noise_causes_json(const struct cpu_noise *n, const struct cpu_noise_cpu *c);

#endif
