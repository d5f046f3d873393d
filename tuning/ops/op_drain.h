/*
 * Version 1: moves the programs in the root cpuset to another cpuset.
 */
#ifndef KBLAT_TUNING_OP_DRAIN_H
#define KBLAT_TUNING_OP_DRAIN_H

#include "tuning/ops/ops.h"

struct cgroups;
struct plan;

/* Move them to the cpuset `name`. */
void op_drain_plan(struct plan *plan, const char *knob, const struct cgroups *cg, const char *name);

#endif
