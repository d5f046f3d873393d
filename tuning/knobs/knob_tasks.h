/*
 * tasks: programs and movable kernel threads leave the shields.
 */
#ifndef KBLAT_TUNING_KNOB_TASKS_H
#define KBLAT_TUNING_KNOB_TASKS_H

#include "tuning/knobs/knob.h"

void knob_tasks_plan(struct planner *p, const struct setting *s, const struct knob *k);

/* Before cpusets: they forget affinities of threads, which are to come back without them. Nothing where threads are moved
 * anyway. */
void knob_tasks_plan_to_keep(struct planner *p, const char *knob);

/* After the cpusets, which widen the masks of threads that had one of their own: the masks once
 * more, and what `verify` looks at. */
void knob_tasks_plan_again(struct planner *p, const struct setting *s, const struct knob *k);

#endif
