/*
 * Runs a point, or a round of it: starts the endpoints of its flows, takes them through open, connect, warm-up and
 * repetitions, and stores what they return. A point that fails or is not possible does not end the run.
 */
#ifndef KBLAT_RUN_COORDINATOR_H
#define KBLAT_RUN_COORDINATOR_H

#include <jansson.h>

#include "measure/point/flow.h"
#include "measure/point/point.h"
#include "measure/run/context.h"
#include "measure/run/environment.h"

/* The progress of a run, for display. */
struct progress {
	const char *path; /* of the run directory */
	size_t point, points;
	long long rep, reps;
	uint64_t messages, all_messages; /* measured so far, and of the whole run */
	int64_t started_ms;		 /* monotonic_ms() */
	int64_t point_started_ms;
	void (*show)(
	    const struct progress *p); /* after every repetition and at the start of a point; NULL: nobody looks */
};

enum outcome { OUTCOME_COMPLETED, OUTCOME_FAILED, OUTCOME_IMPOSSIBLE, OUTCOME_INTERRUPTED, OUTCOMES };
extern const char *const outcome_names[]; /* "completed", ... */

/* What was found out about the run during a point. */
struct point_outcome {
	enum outcome outcome;	 /* of the last round */
	json_t *hosts;		 /* session_hosts() of its endpoints; {}: it did not get so far */
	bool common_clock;	 /* both sides of each flow were on one host; true unless known otherwise */
	int64_t skew_ns;	 /* between the tick counters of two CPUs, where that was measured; -1: it was not */
	char shared_adapter[64]; /* the device that both sides of a flow have, unasked; "": none */
	json_t *taken_looks;	 /* of point.json */
	json_t *clock;		 /* likewise; NULL: it was on one host so far */
	json_t *environment;	 /* of point.json; NULL: the point has none */
	int64_t rounds;		 /* that were run */
	int64_t took_ms;	 /* all of them */
};

void point_outcome_init(struct point_outcome *o);
void point_outcome_free(struct point_outcome *o);

/* By its last round, or because something went wrong in one. */
bool point_is_over(const struct point *p, const struct point_outcome *o);

/*
 * Run the next round of it (`out` has the earlier ones): with new endpoints, the repetitions that belong to this round.
 * Errors are in `e` and in the point's point.json. As long as rounds are missing, point.json has it for interrupted.
 */
void coordinator_run_point(const struct run_context *run, struct environment *env, const struct point *p,
			   struct progress *progress, struct point_outcome *out, struct err *e);

/*
 * Do both sides of a flow use the same port of an adapter? Then its internal switch or loopback is measured, but neither a
 * link nor a second adapter.
 *
 * Returns the device, unless it is a software device; NULL: they do not. `granted`: {"source": {"device", "port",
 * "software"}, "sink"} of endpoints on one host.
 */
const char *adapter_shared(const json_t *granted);

#endif
