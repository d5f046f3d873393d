/*
 * Makes a timeline from the events of one side. An interval belongs to the innermost context that
 * ran (such as an interrupt inside a softirq during another task's turn), so times are exclusive.
 * Only the CPU on which the endpoint's thread runs, or ran last, matters. Pure.
 */
#ifndef KBLAT_ANALYSIS_TIMELINE_BUILD_H
#define KBLAT_ANALYSIS_TIMELINE_BUILD_H

#include "files/rundir/trace_file.h"
#include "judge/analysis/cause.h"
#include "judge/analysis/timeline.h"

/* `side`: as in struct cause. `sleeps`: the endpoint sleeps while it waits, so its sleep is not a
 * delay. Adds causes to `causes`. Release with timeline_free(). */
void timeline_build(const struct trace_file *f, unsigned side, bool sleeps, struct cause_table *causes,
		    struct timeline *out);

#endif
