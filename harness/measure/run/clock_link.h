/*
 * The clocks of a point's two hosts, compared over its data path, where a series subtracts stamps of both: by endpoints of
 * their own (where a device has one user: by the point's), with the kernel exchange over the flow's transport, before the
 * first repetition and after each; or by clocks that others keep in step on both hosts (below). What the sink's side has stamped is then put into the source's
 * time. Endpoints of the point sleep meanwhile.
 */
#ifndef KBLAT_RUN_CLOCK_LINK_H
#define KBLAT_RUN_CLOCK_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "measure/run/session.h"

/* --- two clocks, by round trips --- */

/*
 * How far the clocks of two hosts are apart, by messages to and fro (`there`, `back`) that both hosts stamp. Pure.
 *
 * A message took no negative time, neither there nor back: so the far clock was ahead by at most `received - sent` and
 * at least `answered - returned`. Half the distance of the two, the round trip without the far side's turn, is the
 * error of their middle; it is a bound, whatever the queues on the way did. Of many round trips the shortest says most
 * (minimum-delay filter, as NTP's).
 *
 * Between two comparisons the offset is taken to move in a straight line. What makes that wrong is a change of a
 * clock's rate meanwhile; the bound allows for CLOCK_PAIR_WANDER_PPB, ten times what a quartz does in minutes indoors.
 */
#define CLOCK_PAIR_WANDER_PPB 100
#define CLOCK_PAIR_MOST_PPM   500 /* no clock is wrong by more, so what moves faster was set */

/* Times belong to a run: values further away (a hundred days) are not valid stamps, and could overflow. */
#define CLOCK_PAIR_FURTHEST_NS (1LL << 53)
bool clock_pair_is_time(int64_t ns);

/* A round trip: two stamps of the near clock, two of the far one between them, in nanoseconds of each. */
struct clock_exchange {
	int64_t sent, received, answered, returned;
};

/* One comparison: at this time of the near clock the far one was ahead by offset_ns, give or take error_ns. */
struct clock_comparison {
	int64_t at_ns, offset_ns, error_ns;
};

/* The result of several comparisons. */
struct clock_line {
	int64_t at_ns, offset_ns; /* of the line, at the first comparison */
	double drift_ppb;	  /* how much faster the far clock is */
	/* bound for the result of clock_pair_offset(), anywhere between the first and the last */
	int64_t error_ns;
	int64_t residual_ns; /* the largest distance of a comparison from the line */
	bool has_stepped;    /* no two steady clocks can have given these comparisons */
};

/* The best of some exchanges; those with a stamp that never happened (NEVER) or cannot be, or whose stamps
 * contradict each other, are left out. False: there is none. */
bool clock_pair_compare(const struct clock_exchange *exchanges, size_t count, struct clock_comparison *out);

/* The line through comparisons in chronological order (at least one; with only one, the drift is
 * assumed to be 0). */
struct clock_line clock_pair_fit(const struct clock_comparison *comparisons, size_t count);

/* By how much the far clock was ahead, at a time of the *far* clock: on the line through the comparisons around it;
 * beyond the first and the last, on that through the two next to it. */
int64_t clock_pair_offset(const struct clock_comparison *comparisons, size_t count, int64_t far_ns);

/* --- the two hosts of a point --- */

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

/* Compare now; does nothing if it is not open. -EINTR: a signal. Another error: the measured endpoints, which compare the
 * clocks themselves where nobody else can use their device, cannot go on. */
int clock_link_compare(struct clock_link *l, struct err *e);

/* Put a stored repetition's stamps of the sink's clock into the source's time, by the last two comparisons. */
int clock_link_correct(const struct clock_link *l, const struct session *of, long long repetition, struct err *e);

/* Of point.json: {"hosts", "method": "exchange"|"ptp"|"system"|"none", "why", "kept": {"source", "sink"},
 * "offset_ns", "drift_ppb", "error_ns", "residual_ns", "stepped", "comparisons": [{"at_ns", "offset_ns",
 * "error_ns"}]}; NULL on one host. A new reference. */
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

/* The comparison that two looks at the source's clocks, before and after one at the sink's, come to; the kept clocks
 * are apart by at most `kept_ns`. Pure. False: the source's was set between the two, or they are months apart. */
bool clock_wall_between(const struct wall_look source[2], const struct wall_look *sink, int64_t kept_ns,
			struct clock_comparison *out);

/* Do two hosts' clocks (discipline_json()) follow the same time? 0, or -ENODATA and `e`. */
int clock_wall_check(const json_t *source, const json_t *sink, struct err *e);

#endif
