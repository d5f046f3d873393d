/*
 * One flow of a point while the point is summarised: its repetitions, their results together and
 * one by one, and what happened to its messages. If a flow has a name, its keys begin with it
 * (files/rundir/flows.h).
 */
#ifndef KBLAT_ANALYSIS_FLOW_SUMMARY_H
#define KBLAT_ANALYSIS_FLOW_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "files/rundir/layout.h"
#include "files/rundir/rep.h"
#include "judge/analysis/stats.h"
#include "judge/analysis/summary.h"

/*
 * What happened to the messages: how many were sent and lost, and how many others were in flight
 * when each one was submitted. Latency under load contains the time in this queue, so a reader must
 * see how long it was.
 *
 * Takes one pass over both columns, or two if a repetition has more than WINDOW_BINS messages.
 * Memory only grows with the number of messages that are in flight out of order. Cost: about 4 ns
 * per message.
 */
struct flight {
	uint64_t sent, lost; /* submitted; of these, the ones never received */
	/* p50 and max are known: something was sent, and submission times never decrease */
	bool is_known;
	bool has_p50; /* as for any quantile: there are enough samples beyond it */
	/* messages in flight at a submission; neither the submitted message nor lost ones count */
	int64_t p50, max;
};

/* In each span, a is when a message was received, b (never NULL) when it was submitted. Returns 0
 * or -ENOMEM. */
int flight_compute(const struct span *spans, size_t span_count, struct flight *out, struct err *e);

struct flow_summary {
	const struct layout_flow *flow;
	struct rep *reps; /* complete ones only */
	size_t count;
	struct span *spans; /* room for one per repetition */
	json_t *counters;   /* array: those of the repetitions that have counters */
	struct flight flight;
	json_int_t sent, lost;
	struct summary_interference *interference; /* by t_send's third thread; or NULL */
};

/* Make room for `most` repetitions. */
void flow_summary_init(struct flow_summary *s, const struct layout_flow *f, size_t most);

/* What rep_close() returns for its repetitions. */
int flow_summary_close(struct flow_summary *s, struct err *e);

/* Takes ownership of the repetition. */
void flow_summary_add(struct flow_summary *s, const struct rep *r);

/* Add the metrics of `count` repetitions, beginning with `first`. */
int flow_summary_metrics(struct flow_summary *s, size_t first, size_t count, struct summary_results *to, struct err *e);

/* To be called once `results` contains the metrics of all repetitions: counts the messages, and
 * determines how a third thread influences them. */
int flow_summary_count(struct flow_summary *s, const char *run_path, const struct summary_results *results,
		       struct err *e);

/* What is known about it besides its results; takes the interference. */
struct summary_flow flow_summary_facts(struct flow_summary *s);

/* Add the blocks of some of the repetitions; for a single one (`alone`), only those that are given
 * for each repetition. `granted`: the entry of that name for the flow in point.json. */
void flow_summary_blocks(const struct flow_summary *s, size_t first, size_t count, bool alone, const json_t *granted,
			 struct summary_results *to);

/*
 * How the third thread of `t_send: yes` influences what it measures. That thread keeps writing to
 * the cache line that the device reads. So the coordinator first runs one repetition without it
 * (points/<nnnn>/undisturbed), and the two medians of the latency, which does not need that thread,
 * are reported side by side.
 */

/* For a flow of a point whose results are known. `*out` is NULL if the flow has no such repetition; otherwise the caller
 * frees it. 0, or a negative errno and `e`. */
int interference_compute(const char *run_path, const struct layout_flow *f, const struct summary_results *results,
			 struct summary_interference **out, struct err *e);

/* "t_send: with the third thread the median of t_lat is 1253 ns, without it 1210 ns (+3.6 %)", a
 * new reference. */
json_t *interference_text(const struct summary_interference *interference, const struct summary_results *results);

#endif
