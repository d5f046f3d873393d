/*
 * From the events of one side to its timeline. An interval is of the innermost of what ran (an interrupt inside a
 * softirq inside another task's turn), so times are exclusive. Only the CPU is looked at that the endpoint's thread
 * has, or had last. Pure.
 */
#ifndef KBLAT_ANALYSIS_TIMELINE_BUILD_H
#define KBLAT_ANALYSIS_TIMELINE_BUILD_H

#include "analysis/cause.h"
#include "analysis/timeline.h"
#include "rundir/trace_file.h"

/* `side`: as in struct cause. `sleeps`: the endpoint sleeps while it waits, so that its sleep is no delay. The causes
 * are added to `causes`. Release with timeline_free(). */
void timeline_build(const struct trace_file *f, unsigned side, bool sleeps, struct cause_table *causes,
		    struct timeline *out);

#endif
