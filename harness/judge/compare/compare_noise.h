/*
 * Is the machine too noisy for a verdict? It is if the first quantity of a point (for a series, the
 * median) varies so much that a change of the size of its margin cannot be distinguished from
 * noise.
 *
 * The probable cause: of the quantities in the captures before and after each run and in the run's
 * own counters (time stolen by a hypervisor, waiting for a CPU, preemption, interrupts, frequency),
 * the one that correlates with the latencies of the runs.
 */
#ifndef KBLAT_COMPARE_NOISE_H
#define KBLAT_COMPARE_NOISE_H

#include "judge/compare/compare_join.h"
#include "judge/compare/compare_runs.h"
#include "judge/compare/comparison.h"

/* Fill in a result's noise, at the point where it is largest in relation to the margin, except for its causes. */
void compare_noise(struct comparison *c);

/* Fill in the causes of noise. Files that are missing, or have changed since they were sealed, count
 * as unknown, which is reported. */
void compare_noise_cause(const struct compare_join *j, struct comparison *result);

#endif
