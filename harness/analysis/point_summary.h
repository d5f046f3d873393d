/*
 * The summary of one point: what its repetitions say together and each alone, what became of the
 * messages, and whether that may be quoted.
 */
#ifndef KBLAT_ANALYSIS_POINT_SUMMARY_H
#define KBLAT_ANALYSIS_POINT_SUMMARY_H

#include <jansson.h>

#include "rundir/layout.h"

struct err;

/* What all points of a run have in common. Borrowed. */
struct point_context {
	const char *run_path;
	const json_t *clock; /* run.json's */
	/* of the source's and the sink's host, where run.json has one of its own; NULL */
	const json_t *far_clock[2];
	/* of the source's and the sink's host before the run (struct validity_facts) */
	json_t *state[2];
};

/*
 * {"id", "params", "outcome", "why", "valid", "reasons", "warnings", "loss": {"sent", "lost",
 * "duplicates", "reordered"}, "in_flight": {"p50", "max"}, the blocks (analysis/blocks.h), of two
 * hosts "clock" (point.json's, without the comparisons),
 * "interference", "metrics", "reps": [{"rep", "metrics", blocks}, ...]}. Of a point with flows
 * "loss" is the sum, "start": {"spread_ns"} is by how much the flows' first posts were apart (at
 * most, over the repetitions; null: not known), and what is said of a flow has its name in front:
 * "small.loss", "small.in_flight", "small.pacing", metrics "small.lat_ns". New reference, or NULL.
 * A point that was not measured is no error.
 */
json_t *point_summary(const struct point_context *context, const struct layout *layout, struct err *e);

#endif
