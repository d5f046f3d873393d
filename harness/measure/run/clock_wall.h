/*
 * Compares the clocks of two hosts by clocks that other programs synchronise on both: the system
 * clock by chrony, or a clock by ptp4l. The error is what these programs report; it is not measured
 * here.
 */
#ifndef KBLAT_RUN_CLOCK_WALL_H
#define KBLAT_RUN_CLOCK_WALL_H

#include "common/err.h"
#include "measure/instrument/clock_pair.h"
#include "measure/run/session.h"

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

/* Compare the clocks of a flow's source and sink, which must be open and idle. `kept` gets a new
 * reference to the reports of the programs that synchronise them, {"source", "sink"}. 0 or a
 * negative errno. */
int clock_wall_compare(struct peer peer[2], enum clock_method method, json_t **kept, struct clock_comparison *out,
		       struct err *e);

#endif
