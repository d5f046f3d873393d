/*
 * shields: one cpuset for each, with version 1 or 2 of the controller, whichever is available.
 */
#ifndef KBLAT_TUNING_KNOB_SHIELDS_H
#define KBLAT_TUNING_KNOB_SHIELDS_H

#include "tuning/knobs/knob.h"

void knob_shields_plan(struct planner *p, const struct setting *s, const struct knob *k);

#endif
