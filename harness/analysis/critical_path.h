/*
 * What delayed a message on the CPU where it was at the time. A message visits the sides one after the other; what takes the CPU of a side before
 * the message comes there, or after it has left, delays nothing. When it comes and goes is followed from its first stamp on: a side passes it on once
 * it has had its CPU for long enough. Pure.
 */
#ifndef KBLAT_ANALYSIS_CRITICAL_PATH_H
#define KBLAT_ANALYSIS_CRITICAL_PATH_H

#include "analysis/cause_shares.h"
#include "analysis/timeline.h"

#define CRITICAL_PATH_VISITS 3

struct critical_path {
	unsigned visits; /* 0: the path of these messages is not known */
	unsigned side[CRITICAL_PATH_VISITS];
	int64_t visit_ns; /* what a visit takes, if nothing delays it; not negative */
};

/* Adds the causes on the way of a message of [from, to] to `shares`; how much time they had together. A side that is NULL delays nothing. */
int64_t critical_path_follow(const struct critical_path *p, const struct timeline *const side[2], int64_t from,
			     int64_t to, struct cause_shares *shares);

#endif
