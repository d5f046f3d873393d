/*
 * irqbalance: paused while the profile is applied.
 */
#ifndef KBLAT_TUNING_KNOB_IRQBALANCE_H
#define KBLAT_TUNING_KNOB_IRQBALANCE_H

#include "tuning/knobs/knob.h"

void knob_irqbalance_plan(struct planner *p, const struct setting *s, const struct knob *k);

#endif
