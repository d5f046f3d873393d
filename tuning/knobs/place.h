/*
 * Resolves placements and shields to CPUs.
 */
#ifndef KBLAT_TUNING_PLACE_H
#define KBLAT_TUNING_PLACE_H

#include "tuning/knobs/knob.h"

/*
 * The CPUs that a placement stands for: "2-3", all, housekeeping, shields, a shield's name, or a
 * mapping
 *   {cpus: 2-3} {node: 0} {near: mlx5_0}   with  take: 2 | 1/3 | all,   cores: yes (whole cores)   and   fast: no (any kind)
 * 0; -EINVAL and an error; -ENODEV if there is no such place on this machine, which is then recorded in the plan for `object`.
 */
int place_resolve(struct planner *p, const struct setting *s, const struct ynode *n, const char *object,
		  struct cpulist *out);

/* Resolve the shields of the profile into plan->shields and housekeeping. Returns the same as place_resolve. */
int place_shields(struct planner *p, const struct setting *s);

#endif
