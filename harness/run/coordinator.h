/*
 * Runs points: starts the two endpoints of each, leads them through open, connect, warm-up and repetitions, and stores
 * what they hand back. A point that fails or is not possible does not end the run.
 */
#ifndef KBLAT_COORDINATOR_H
#define KBLAT_COORDINATOR_H

#include <signal.h>

#include "instrument/clock.h"
#include "run/writer.h"

enum outcome { OUTCOME_COMPLETED, OUTCOME_FAILED, OUTCOME_IMPOSSIBLE, OUTCOME_INTERRUPTED, OUTCOMES };
extern const char *const outcome_names[]; /* "completed", ... */

/* Told after every repetition and at the start of a point. */
struct progress {
	size_t point, points;
	long long rep, reps;
	uint64_t messages, all_messages; /* measured so far, and of the whole run */
	int64_t started_ms;		 /* channel_now_ms() */
};

struct coordinator {
	struct rundir *rundir;
	const char *launcher[2]; /* by role; NULL or "": this machine */
	struct environment *environment;
	struct clock_report clock;
	struct clock_conversion conversion;
	char boot_id[64];
	volatile sig_atomic_t *interrupted;
	void (*on_progress)(const struct progress *p); /* NULL: nobody looks */
	struct progress progress;
};

/* Run one point ({"id", "params"}). What went wrong is in `e`, in the point's point.json and in the log. */
enum outcome coordinator_run_point(struct coordinator *co, const json_t *point, struct err *e);

#endif
