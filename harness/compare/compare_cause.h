/*
 * The probable cause of noise in a comparison: of the quantities in the captures before and after
 * each run and in the run's own counters (time stolen by a hypervisor, waiting for a CPU,
 * preemption, interrupts, frequency), the one that correlates with the latencies of the runs.
 */
#ifndef KBLAT_COMPARE_CAUSE_H
#define KBLAT_COMPARE_CAUSE_H

#include "compare/compare_join.h"

/*
 * If a result is "noisy", fill in its "cause", a sentence, and "causes": [{"what", "least",
 * "median", "most", "correlation": with the latencies, by ranks; null: not defined}], for the
 * quantities that are known. Files that are missing, or have changed since they were sealed, count
 * as unknown, which is reported.
 */
void compare_cause(const struct compare_join *j, json_t *result);

#endif
