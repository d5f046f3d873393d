/*
 * What came between two polls of a loop: gaps that it saw, filled with what the segments of its timeline leave open.
 */
#ifndef KBLAT_ANALYSIS_TIMELINE_GAPS_H
#define KBLAT_ANALYSIS_TIMELINE_GAPS_H

#include "analysis/cause.h"
#include "analysis/timeline.h"

/* A gap that the loop saw; or a mark: the moment `from`, at which something of that cause happened. */
struct timeline_moment {
	int64_t from, to;
	unsigned cause;
};

struct timeline_moments {
	struct timeline_moment *list;
	size_t count;
};

struct timeline_gaps {
	struct cause_table *causes;
	unsigned side;			     /* as in struct cause */
	struct timeline_moments seen, marks; /* in order of time */
};

/* Add a moment. */
void timeline_gaps_note(struct timeline_moments *m, int64_t from, int64_t to, unsigned cause);

/* The segments that are there already are in order of time, and are so afterwards. */
void timeline_gaps_fill(const struct timeline_gaps *gaps, struct timeline *t);
void timeline_gaps_free(struct timeline_gaps *gaps);

#endif
