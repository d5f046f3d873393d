/*
 * What probably makes a comparison noisy: of what the captures before and after each run and the
 * run's own counters say (time stolen by a hypervisor, waiting for a CPU, preemption, interrupts,
 * frequency), that which moves with the latencies of the runs.
 */
#ifndef KBLAT_COMPARE_CAUSE_H
#define KBLAT_COMPARE_CAUSE_H

#include "compare/compare_join.h"

/*
 * Where a result says "noisy", fill in its "cause", a sentence, and "causes": [{"what", "least",
 * "median", "most", "correlation": with the latencies, by ranks; null: not defined}], of those that
 * are known. Files that are missing, or were changed since they were sealed, are as if nothing were
 * known; that is said.
 */
void compare_cause(const struct compare_join *j, json_t *result);

#endif
