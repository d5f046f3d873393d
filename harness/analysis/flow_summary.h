/*
 * One flow of a point while the point is summarised: its repetitions, what they say together and
 * each alone, what became of its messages. Keys of a flow with a name begin with it
 * (rundir/flows.h).
 */
#ifndef KBLAT_ANALYSIS_FLOW_SUMMARY_H
#define KBLAT_ANALYSIS_FLOW_SUMMARY_H

#include <jansson.h>

#include "analysis/flight.h"
#include "analysis/stats.h"
#include "rundir/rep.h"

struct flow_summary {
	const struct layout_flow *flow;
	struct rep *reps; /* the whole ones */
	size_t count;
	struct span *spans; /* room for one a repetition */
	json_t *counters;   /* array: of the repetitions that have them */
	struct flight flight;
	json_int_t sent, lost;
	json_t *interference; /* of t_send's third thread, or NULL */
};

/* With room for `most` repetitions. */
void flow_summary_init(struct flow_summary *s, const struct layout_flow *f, size_t most);
void flow_summary_free(struct flow_summary *s);

/* Takes the repetition. */
void flow_summary_add(struct flow_summary *s, const struct rep *r);

/* Add to `metrics` what some of the repetitions say. */
int flow_summary_metrics(struct flow_summary *s, size_t first, size_t count, json_t *metrics, struct err *e);

/* Once `metrics` holds those of all: count the messages, and find what a third thread does to
 * them. */
int flow_summary_count(struct flow_summary *s, const char *run_path, const json_t *metrics, struct err *e);

/* {"sent", "lost", "duplicates", "reordered"}, a new reference. */
json_t *flow_summary_loss(const struct flow_summary *s);

/* Add the blocks of some of the repetitions; of one alone only those that are said of each. `granted`:
 * what point.json says of the flow under that name. */
void flow_summary_blocks(const struct flow_summary *s, size_t first, size_t count, bool alone, const json_t *granted,
			 json_t *to);

#endif
