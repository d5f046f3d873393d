/*
 * What took the CPU of one side when: intervals that do not overlap, each of one cause. How it comes from events:
 * timeline_build.h.
 */
#ifndef KBLAT_ANALYSIS_TIMELINE_H
#define KBLAT_ANALYSIS_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

struct timeline_segment {
	int64_t from, to; /* ns since the run's t0; to > from */
	unsigned cause;	  /* in a table of causes (cause.h) */
};

struct timeline {
	struct timeline_segment *segments; /* rising */
	size_t count;
	int64_t cpu;	     /* that the thread had last; negative: none */
	int64_t known_until; /* from there on events were lost, or the thread is elsewhere; INT64_MAX: neither */
};

#define TIMELINE_NO_CAUSE UINT32_MAX /* of no interval: the endpoint runs, or sleeps as it should */

/* Add an interval at the end of the list; an empty one is none. What goes on from the last one is part of it. */
void timeline_add(struct timeline *t, int64_t from, int64_t to, unsigned cause);

/* By time, where some were added out of order. */
void timeline_sort(struct timeline *t);
void timeline_free(struct timeline *t);

/* The first segment that ends after `time`. */
size_t timeline_find(const struct timeline *t, int64_t time);

#endif
