/*
 * Explains why messages were late. For each message over the limit, looks up what took the CPUs of
 * both sides (timeline.h) between its two stamps. Everything that overlaps is one of its causes,
 * with the time that it took. The message counts as explained if its causes cover at least half of
 * its excess over the median. It is then attributed to the cause that took most time: among those
 * on the message's critical path (critical_path.h) if they cover as much, otherwise among all. A
 * message that its causes do not explain may have been queued behind a message that was late
 * itself. Pure. Cost: a few nanoseconds per event, fewer than a hundred per message.
 */
#ifndef KBLAT_ANALYSIS_ATTRIBUTION_H
#define KBLAT_ANALYSIS_ATTRIBUTION_H

#include "analysis/cause.h"
#include "analysis/cause_shares.h"
#include "analysis/critical_path.h"
#include "analysis/stats.h"
#include "analysis/timeline.h"

/* The messages of a repetition; (a[i] - b[i]) / `divide` is the latency. */
struct attribution_input {
	struct span span;
	int divide;
	int64_t limit;			/* of the latency: messages above it are explained */
	int64_t median;			/* of a - b */
	const struct timeline *side[2]; /* NULL: nothing is known about it */
	struct critical_path path;
};

struct late_message {
	size_t message;
	int64_t from, to; /* its stamps: it was under way in between */
	int64_t excess;	  /* over the median */
	int64_t covered;  /* the part of the excess that causes cover; time on both CPUs at once counts once */
	unsigned cause;	  /* the cause that took most time; may be CAUSE_NOT_KNOWN or CAUSE_UNEXPLAINED */
	int64_t time;	  /* taken by this cause */
	long long behind; /* the first message of the queue that it was in; -1: it was not queued */
};

struct attribution {
	struct late_message *late;
	size_t count;
	/* a sample of messages that are not late: their number, and the number of those during
	 * which anything happened */
	size_t typical, coincidences;
};

/* Adds to `out`. Causes that belong to neither side are added to `causes`. */
void attribution_add(const struct attribution_input *in, struct cause_table *causes, struct attribution *out);
void attribution_free(struct attribution *a);

/* The time that each cause took of an interval on one side, longest first. */
struct cause_shares attribution_shares(const struct timeline *t, int64_t from, int64_t to);

#endif
