/*
 * tuned: a profile of the distribution's, or the tuned.conf beside ours.
 */
#ifndef KBLAT_TUNING_KNOB_TUNED_H
#define KBLAT_TUNING_KNOB_TUNED_H

#include "tuning/knobs/knob.h"

void knob_tuned_plan(struct planner *p, const struct setting *s, const struct knob *k);

#endif
