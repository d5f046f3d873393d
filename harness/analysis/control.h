/*
 * Control repetitions: measured once, without the instrumentation whose influence they show, and
 * stored in a folder of their own.
 */
#ifndef KBLAT_ANALYSIS_CONTROL_H
#define KBLAT_ANALYSIS_CONTROL_H

#include "analysis/stats.h"
#include "rundir/layout.h"

/* The statistics of a series, computed from the columns in `dir`, the folder of a flow's control repetition. */
int control_stats(const char *dir, const struct layout_flow *f, const struct layout_series *s, struct stats *out,
		  struct err *e);

#endif
