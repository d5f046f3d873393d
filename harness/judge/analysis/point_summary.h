/*
 * The summary of one point: the results of its repetitions together and one by one, what happened
 * to the messages, and whether the numbers may be quoted.
 */
#ifndef KBLAT_ANALYSIS_POINT_SUMMARY_H
#define KBLAT_ANALYSIS_POINT_SUMMARY_H

#include "files/rundir/layout.h"
#include "judge/analysis/summary.h"

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

/* Everything but what the encoder adds (summary_json.h). 0, or a negative errno and `e`: then there is nothing to free. It
 * is not an error if the point was not measured. */
int point_summary(const struct point_context *context, const struct layout *layout, struct summary_point *out,
		  struct err *e);

#endif
