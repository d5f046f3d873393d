/*
 * A control group with CPUs and memory.
 */
#ifndef KBLAT_TUNING_OP_CPUSET_H
#define KBLAT_TUNING_OP_CPUSET_H

#include "tuning/machine/cgroups.h"
#include "tuning/ops/ops.h"

struct machine;
struct plan;

/* Make one. `partition`: isolated, root or member. */
void op_cpuset_plan(struct plan *plan, const char *knob, const struct cgroups *cg, const char *name,
		    const struct cpulist *cpus, const struct cpulist *memory, const char *partition);

/* What a step of this kind is to know, a new reference; and the hierarchy as such a step has
 * written it down. */
json_t *op_cpuset_data(const struct cgroups *cg, const char *name, const char *cpus, const char *memory,
		       const char *partition);
struct cgroups op_cpuset_hierarchy(const struct machine *m, const struct step *s);

#endif
