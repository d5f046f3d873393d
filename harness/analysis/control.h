/*
 * Control repetitions: measured once, without what the others are measured with, and kept in a folder of their own.
 */
#ifndef KBLAT_ANALYSIS_CONTROL_H
#define KBLAT_ANALYSIS_CONTROL_H

#include "analysis/stats.h"
#include "rundir/layout.h"

/* The statistics of a series, from the columns in the folder of a control repetition (of a flow). */
int control_stats(const char *dir, const struct layout_flow *f, const struct layout_series *s, struct stats *out,
		  struct err *e);

#endif
