/*
 * Runs a point: starts the endpoints of its flows, takes them through open, connect, warm-up and repetitions, and
 * stores what they return. A point that fails or is not possible does not end the run.
 */
#ifndef KBLAT_RUN_COORDINATOR_H
#define KBLAT_RUN_COORDINATOR_H

#include "point/point.h"
#include "run/context.h"
#include "run/environment.h"
#include "run/progress.h"

enum outcome { OUTCOME_COMPLETED, OUTCOME_FAILED, OUTCOME_IMPOSSIBLE, OUTCOME_INTERRUPTED, OUTCOMES };
extern const char *const outcome_names[]; /* "completed", ... */

/* What was found out about the run during a point. */
struct point_outcome {
	enum outcome outcome;
	json_t *hosts;		 /* session_hosts() of its endpoints; {}: it did not get so far */
	bool common_clock;	 /* both sides of each flow were on one host; true unless known otherwise */
	int64_t skew_ns;	 /* between the tick counters of two CPUs, where that was measured; -1: it was not */
	char shared_adapter[64]; /* the device that both sides of a flow have, unasked; "": none */
};

/* Run it. Errors are in `e` and in the point's point.json. Free `out` in either case. */
void coordinator_run_point(const struct run_context *run, struct environment *env, const struct point *p,
			   struct progress *progress, struct point_outcome *out, struct err *e);
void point_outcome_free(struct point_outcome *o);

#endif
