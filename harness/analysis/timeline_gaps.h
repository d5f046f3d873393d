/*
 * Gaps between two polls of a loop, as the loop itself saw them. They fill the parts of the
 * timeline that segments leave open.
 */
#ifndef KBLAT_ANALYSIS_TIMELINE_GAPS_H
#define KBLAT_ANALYSIS_TIMELINE_GAPS_H

#include "analysis/cause.h"
#include "analysis/timeline.h"

/* A gap that the loop saw, or a mark: the moment `from` at which the cause occurred. */
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
	struct timeline_moments seen, marks; /* in chronological order */
};

/* Add a moment. */
void timeline_gaps_note(struct timeline_moments *m, int64_t from, int64_t to, unsigned cause);

/* Add segments for the gaps. The existing segments are in chronological order, and so is the result. */
void timeline_gaps_fill(const struct timeline_gaps *gaps, struct timeline *t);
void timeline_gaps_free(struct timeline_gaps *gaps);

#endif
