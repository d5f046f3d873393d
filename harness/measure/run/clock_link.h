/*
 * The clocks of a point's two hosts, compared over its data path, where a series subtracts stamps of both: by endpoints of
 * their own, with the kernel exchange over the flow's transport, before the first repetition and after each; or by clocks that others keep in step on both
 * hosts (below). What the sink's side has stamped is then put into the source's time. Endpoints of the point sleep meanwhile.
 */
#ifndef KBLAT_RUN_CLOCK_LINK_H
#define KBLAT_RUN_CLOCK_LINK_H

#include "common/err.h"
#include "measure/instrument/clock_pair.h"
#include "measure/run/session.h"

struct clock_link {
	bool is_apart; /* the point's sides are on two hosts */
	bool is_open;  /* and their clocks are compared */
	enum clock_method method;
	struct peer *measured; /* the point's: source and sink of a flow that needs a clock for both; NULL: none does */
	json_t *kept;	       /* for clocks disciplined by other programs: their last reports */
	struct point point;    /* of messages to and fro */
	struct session session;
	char *hosts[2]; /* of source and sink */
	struct clock_comparison *list;
	size_t count;
	struct err why; /* there is no clock for both, because */
};

/* The point's endpoints are open. What keeps the clocks from being compared is no reason to end: it is in the result. */
void clock_link_open(struct clock_link *l, const struct session *of);
void clock_link_close(struct clock_link *l);

/* Compare now; does nothing if it is not open. -EINTR: a signal. */
int clock_link_compare(struct clock_link *l);

/* Put a stored repetition's stamps of the sink's clock into the source's time, by the last two comparisons. */
int clock_link_correct(const struct clock_link *l, const struct session *of, long long repetition, struct err *e);

/* Of point.json: {"hosts", "method": "exchange"|"ptp"|"system"|"none", "why", "kept": {"source", "sink"}, "offset_ns", "drift_ppb", "error_ns", "residual_ns", "stepped", "comparisons": [{"at_ns",
 * "offset_ns", "error_ns"}]}; NULL on one host. A new reference. */
json_t *clock_link_json(const struct clock_link *l);

/*
 * Clocks that other programs synchronise on both hosts: the system clock by chrony, or a clock by ptp4l. The error is what
 * these programs report; it is not measured here.
 */

/* What an endpoint reported about the synchronised clock of its host: at at_ns of its own time
 * (since t0), that clock showed wall_ns; reading both took width_ns. */
struct wall_look {
	int64_t at_ns, wall_ns, width_ns;
};

/* The comparison that two looks at the source's clocks, before and after one at the sink's, come to; the kept clocks are apart by at most `kept_ns`. Pure.
 * False: the source's was set between the two, or they are months apart. */
bool clock_wall_between(const struct wall_look source[2], const struct wall_look *sink, int64_t kept_ns,
			struct clock_comparison *out);

/* Do two hosts' clocks (discipline_json()) follow the same time? 0, or -ENODATA and `e`. */
int clock_wall_check(const json_t *source, const json_t *sink, struct err *e);

#endif
