/*
 * What took the CPU of one side, and when: intervals that do not overlap, each with one cause.
 * timeline_build.h makes them from events.
 */
#ifndef KBLAT_ANALYSIS_TIMELINE_H
#define KBLAT_ANALYSIS_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

struct timeline_segment {
	int64_t from, to; /* ns since the run's t0; to > from */
	unsigned cause;	  /* index in a table of causes (cause.h) */
};

struct timeline {
	struct timeline_segment *segments; /* ascending */
	size_t count;
	int64_t cpu;	     /* the thread's last CPU; negative: none */
	int64_t known_until; /* from then on events were lost, or the thread was elsewhere; INT64_MAX: neither */
	int64_t gaps_until;  /* from there on the loop had no room for more gaps; INT64_MAX: it had */
};

/* A program's thread. */
struct timeline_wake {
	int64_t time;
	const struct timeline_thread *by; /* of the same program; NULL: another one, or an interrupt */
};

struct timeline_thread {
	int64_t tid;
	char name[64]; /* that of its task */
	struct timeline line;
	struct timeline_wake *wakes; /* ascending */
	size_t wake_count;
};

struct timeline_threads {
	struct timeline_thread *list; /* ascending numbers */
	size_t count;
	int64_t known_until;
};

/* NULL: there is no such thread. */
const struct timeline_thread *timeline_thread_find(const struct timeline_threads *t, int64_t tid);
void timeline_free_threads(struct timeline_threads *t);

#define TIMELINE_NO_CAUSE UINT32_MAX /* not in any interval: the endpoint runs, or sleeps as it should */

/* Append an interval. Empty intervals are ignored; one that continues the last interval is merged with it. */
void timeline_add(struct timeline *t, int64_t from, int64_t to, unsigned cause);

/* Sort by time; needed if intervals were added out of order. */
void timeline_sort(struct timeline *t);
void timeline_free(struct timeline *t);

/* The first segment that ends after `time`. */
size_t timeline_find(const struct timeline *t, int64_t time);

#endif
