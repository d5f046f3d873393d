/*
 * What delayed a message on the CPU where it was at the time. A message visits the sides one after
 * the other; whatever takes a side's CPU before the message arrives there, or after it has left,
 * does not delay it. When it arrives and leaves is not recorded, but it can only leave a side while
 * the thread there has its CPU, and at its second stamp it has made all visits. Of the paths that
 * these rules allow, the one with the least time without a cause is used. Pure. Cost: some
 * nanoseconds per interval of the timelines.
 */
#ifndef KBLAT_ANALYSIS_CRITICAL_PATH_H
#define KBLAT_ANALYSIS_CRITICAL_PATH_H

#include "analysis/cause_shares.h"
#include "analysis/timeline.h"

#define CRITICAL_PATH_VISITS 3

struct critical_path {
	unsigned visits; /* 0: the path of the messages is not known */
	unsigned side[CRITICAL_PATH_VISITS];
	int64_t visit_ns; /* duration of a visit that nothing delays; not negative */
};

/* Adds to `shares` the causes on the path of a message that was under way in [from, to]. Returns
 * the time that they took in total. A side that is NULL delays nothing. 0: nothing delayed it, or
 * the timelines do not allow any path. */
int64_t critical_path_follow(const struct critical_path *p, const struct timeline *const side[2], int64_t from,
			     int64_t to, struct cause_shares *shares);

#endif
