/*
 * Groups the runs of a comparison into units, which count as independent measurements. To compare kernels, the unit is
 * the boot: what differs from boot to boot (memory layout, interrupt placement) matters as much as what differs from
 * run to run, and many runs of one boot still represent only that boot. To compare settings within a boot, the unit is
 * the run.
 */
#ifndef KBLAT_COMPARE_UNITS_H
#define KBLAT_COMPARE_UNITS_H

#include "compare/compare_runs.h"

/* Group the runs. STATUS_USAGE if they are of different experiments, one occurs twice, or the units make no sense. */
int compare_units(struct compare_runs *all, enum compare_unit_kind kind, struct err *e);

#endif
