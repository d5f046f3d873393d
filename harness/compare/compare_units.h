/*
 * The runs of a comparison put into units, by which alone anything may be judged. For a question
 * about a kernel the unit is the boot: what differs from boot to boot (memory layout, interrupt
 * placement) is as large as what differs from run to run, and many runs of one boot know one boot.
 * For one about a knob, within one boot, it is the run.
 */
#ifndef KBLAT_COMPARE_UNITS_H
#define KBLAT_COMPARE_UNITS_H

#include "compare/compare_runs.h"

/* Sort them into units. STATUS_USAGE if they are of different experiments, one is there twice, or
 * the units make no sense. */
int compare_units(struct compare_runs *all, enum compare_unit_kind kind, struct err *e);

#endif
