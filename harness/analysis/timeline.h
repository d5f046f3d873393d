/*
 * From the events of one side to what took its CPU when: intervals that do not overlap, each of one cause. An interval is
 * of the innermost of what ran (an interrupt inside a softirq inside another task's turn), so times are exclusive. Only
 * the CPU is looked at that the endpoint's thread has, or had last. Pure.
 */
#ifndef KBLAT_ANALYSIS_TIMELINE_H
#define KBLAT_ANALYSIS_TIMELINE_H

#include "analysis/cause.h"
#include "rundir/trace_file.h"

struct timeline_segment {
	int64_t from, to; /* ns since the run's t0; to > from */
	unsigned cause;	  /* in the table */
};

struct timeline {
	struct timeline_segment *segments; /* rising */
	size_t count, room;
	int64_t known_until; /* from there on events were lost; INT64_MAX: none were */
	bool has_gaps;	     /* the loop told of gaps between polls: what nobody explains is below the kernel */
};

/* `side`: as in struct cause. `sleeps`: the endpoint sleeps while it waits, so that its sleep is no delay. The causes are
 * added to `causes`. */
void timeline_build(const struct trace_file *f, unsigned side, bool sleeps, struct cause_table *causes,
		    struct timeline *out);
void timeline_free(struct timeline *t);

/* The first segment that ends after `time`. */
size_t timeline_find(const struct timeline *t, int64_t time);

#endif
