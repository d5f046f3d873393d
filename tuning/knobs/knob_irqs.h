/*
 * irqs: the CPUs on which interrupts may fire.
 */
#ifndef KBLAT_TUNING_KNOB_IRQS_H
#define KBLAT_TUNING_KNOB_IRQS_H

#include "tuning/knobs/knob.h"

void knob_irqs_plan(struct planner *p, const struct setting *s, const struct knob *k);

#endif
