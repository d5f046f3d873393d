/*
 * kernel_arguments: compared with the command line that was booted, never written.
 */
#ifndef KBLAT_TUNING_KNOB_BOOT_H
#define KBLAT_TUNING_KNOB_BOOT_H

#include "tuning/knobs/knob.h"

void knob_boot_plan(struct planner *p, const struct setting *s, const struct knob *k);

#endif
