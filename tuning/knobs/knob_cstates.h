/*
 * cstates: which idle states each CPU may enter.
 */
#ifndef KBLAT_TUNING_KNOB_CSTATES_H
#define KBLAT_TUNING_KNOB_CSTATES_H

#include "tuning/knobs/knob.h"

void knob_cstates_plan(struct planner *p, const struct setting *s, const struct knob *k);

#endif
