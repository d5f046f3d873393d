/*
 * sysctl and sysfs: any file, by name.
 */
#ifndef KBLAT_TUNING_KNOB_FILES_H
#define KBLAT_TUNING_KNOB_FILES_H

#include "tuning/knobs/knob.h"

/* `row` is the path that all of them are below: "/sys/". */
void knob_files_plan(struct planner *p, const struct setting *s, const struct knob *k);

#endif
