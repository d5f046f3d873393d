/*
 * One repetition of a point: all endpoints are armed, the sources started together, all followed until they are done, and
 * what they hand back is stored.
 */
#ifndef KBLAT_RUN_REPETITION_H
#define KBLAT_RUN_REPETITION_H

#include "run/session.h"

/* Repetitions that are not among those that are counted. */
enum {
	REPETITION_WARM_UP = -1,
	REPETITION_CONTROL = -2, /* without the threads of a kernel that have a setting of their own: what those cost */
	REPETITION_COMPARISON = -3, /* of clocks (clock_link.h) */
	REPETITION_UNTRACED = -4,   /* with `explain`, without the kernel's events being kept: what that costs */
};

/* 0; -EINTR: stopped early, what was measured is kept; or another negative errno. `kept`: its columns and counters are there. */
int repetition_run(struct session *s, long long number, bool *kept, struct err *e);

/* Where what a flow's endpoints hand back is stored. The caller frees. */
char *repetition_dir(const struct session *s, const struct flow *f, long long number);

/* Remove all that is stored of it. */
void repetition_drop(const struct session *s, long long number);

/* Nothing half-written stays: a repetition has the counters of all flows, or it is not there. Called when the endpoints
 * have gone: one that hung keeps its columns as if the coordinator had died. */
void repetition_drop_incomplete(const struct session *s, long long number);

#endif
