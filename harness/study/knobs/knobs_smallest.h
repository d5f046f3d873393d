/*
 * The smallest profile that has the effect. Candidates, in ascending order, are the knobs that are needed; these with the
 * most helpful of the knobs that others can replace; and so on. Each candidate is compared with the whole profile in
 * blocks of its own, until one is shown not to be slower (kblat compare: "no regression").
 */
#ifndef KBLAT_KNOBS_SMALLEST_H
#define KBLAT_KNOBS_SMALLEST_H

#include "study/knobs/knobs_judge.h"

/* Requires a result; measures candidates, and fills in the smallest profile. -ECHILD and `e` if a run fails. */
int smallest_find(struct study *s, const struct knobs_choice *c, struct err *e);

/* Write `smallest/profile.yaml`, if there is such a profile. */
int smallest_write(const struct study *s, struct err *e);

/* STATUS_OK, STATUS_NO or STATUS_UNDECIDED. */
enum status smallest_status(const struct knobs_smallest *smallest);

#endif
