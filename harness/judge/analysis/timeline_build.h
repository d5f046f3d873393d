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

/* The same for each thread of a program, of events that name threads (TRACE_VALUE). Its causes belong to neither side,
 * and cover all of its time: it runs, sleeps, or waits for a CPU. Release with timeline_free_threads(). */
void timeline_build_threads(const struct trace_file *f, struct cause_table *causes, struct timeline_threads *out);

#endif
