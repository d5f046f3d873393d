/*
 * One flow of a point while the point is summarised: its repetitions, their results together and
 * one by one, and what happened to its messages. If a flow has a name, its keys begin with it
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
	struct rep *reps; /* complete ones only */
	size_t count;
	struct span *spans; /* room for one per repetition */
	json_t *counters;   /* array: those of the repetitions that have counters */
	struct flight flight;
	json_int_t sent, lost;
	json_t *interference; /* by t_send's third thread; or NULL */
};

/* Make room for `most` repetitions. */
void flow_summary_init(struct flow_summary *s, const struct layout_flow *f, size_t most);

/* What rep_close() returns for its repetitions. */
int flow_summary_close(struct flow_summary *s, struct err *e);

/* Takes ownership of the repetition. */
void flow_summary_add(struct flow_summary *s, const struct rep *r);

/* Add the metrics of `count` repetitions, beginning with `first`, to `metrics`. */
int flow_summary_metrics(struct flow_summary *s, size_t first, size_t count, json_t *metrics, struct err *e);

/* To be called once `metrics` contains those of all repetitions: counts the messages, and
 * determines how a third thread influences them. */
int flow_summary_count(struct flow_summary *s, const char *run_path, const json_t *metrics, struct err *e);

/* {"sent", "lost", "duplicates", "reordered"}, a new reference. */
json_t *flow_summary_loss(const struct flow_summary *s);

/* Add the blocks of some of the repetitions; for a single one (`alone`), only those that are given
 * for each repetition. `granted`: the entry of that name for the flow in point.json. */
void flow_summary_blocks(const struct flow_summary *s, size_t first, size_t count, bool alone, const json_t *granted,
			 json_t *to);

#endif
