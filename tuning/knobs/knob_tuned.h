/*
 * tuned: a profile of the distribution, or the tuned.conf next to our profile.
 */
#ifndef KBLAT_TUNING_KNOB_TUNED_H
#define KBLAT_TUNING_KNOB_TUNED_H

#include "tuning/knobs/knob.h"

void knob_tuned_plan(struct planner *p, const struct setting *s, const struct knob *k);

#endif
