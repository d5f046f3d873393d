/*
 * The summary of one point: the results of its repetitions together and one by one, what happened
 * to the messages, and whether the numbers may be quoted.
 */
#ifndef KBLAT_ANALYSIS_POINT_SUMMARY_H
#define KBLAT_ANALYSIS_POINT_SUMMARY_H

#include <jansson.h>

#include "rundir/layout.h"

struct err;

/* What all points of a run have in common. Pointers are borrowed. */
struct point_context {
	const char *run_path;
	const json_t *clock; /* run.json's */
	/* of the source's and the sink's host, if run.json has one for it; otherwise NULL */
	const json_t *far_clock[2];
	/* of the source's and the sink's host before the run (struct validity_facts) */
	json_t *state[2];
};

/*
 * {"id", "params", "outcome", "why", "valid", "reasons", "warnings", "loss": {"sent", "lost",
 * "duplicates", "reordered"}, "in_flight": {"p50", "max"}, the blocks (analysis/blocks.h), with two
 * hosts "clock" (point.json's, without the comparisons), "interference", "metrics", "reps":
 * [{"rep", "metrics", blocks}, ...]}. For a point with flows, "loss" is the sum; "start":
 * {"spread_ns"} is the time between the flows' first posts (the maximum over the repetitions; null:
 * not known); and keys of a flow begin with its name: "small.loss", "small.in_flight",
 * "small.pacing", metrics "small.lat_ns". Returns a new reference, or NULL. It is not an error if
 * the point was not measured.
 */
json_t *point_summary(const struct point_context *context, const struct layout *layout, struct err *e);

#endif
