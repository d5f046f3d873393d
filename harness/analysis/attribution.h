/*
 * Why was a message late? Each message over the limit, against what took the CPUs of both sides (timeline.h) between its
 * two stamps. What overlaps is its causes, with the time that each had; it is explained where they cover at least half
 * of its excess over the median, and then by the one that had most: of what was on the message's way (critical_path.h)
 * where that is as much, else of all. Where they do not, it may have been queued behind a message that was late itself. Pure: a few nanoseconds an event, fewer than a hundred a message.
 */
#ifndef KBLAT_ANALYSIS_ATTRIBUTION_H
#define KBLAT_ANALYSIS_ATTRIBUTION_H

#include "analysis/cause.h"
#include "analysis/cause_shares.h"
#include "analysis/critical_path.h"
#include "analysis/stats.h"
#include "analysis/timeline.h"

/* Messages of a repetition: a[i] - b[i] over `divide` is the latency. */
struct attribution_input {
	struct span span;
	int divide;
	int64_t limit;			/* of the latency: what is above is explained */
	int64_t median;			/* of a - b */
	const struct timeline *side[2]; /* NULL: nothing is known of it */
	struct critical_path path;
};

struct late_message {
	size_t message;
	int64_t from, to; /* its stamps: it was on its way */
	int64_t excess;	  /* over the median */
	int64_t covered;  /* of it, by causes; on both CPUs at once counts once */
	unsigned cause;	  /* the one that had most; CAUSE_NOT_KNOWN, CAUSE_UNEXPLAINED are causes, too */
	int64_t time;	  /* that it had */
	long long behind; /* the message that it was queued behind, the first of them; -1: none */
};

struct attribution {
	struct late_message *late;
	size_t count;
	/* of a sample of messages that are not late: how many, and in how many of them anything happened */
	size_t typical, coincidences;
};

/* Adds to `out`. Causes that are nobody's are added to `causes`. */
void attribution_add(const struct attribution_input *in, struct cause_table *causes, struct attribution *out);
void attribution_free(struct attribution *a);

/* What each cause had of an interval on one side, the longest first. */
struct cause_shares attribution_shares(const struct timeline *t, int64_t from, int64_t to);

#endif
