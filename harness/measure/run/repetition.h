/*
 * One repetition of a point: arms all endpoints, starts the sources together, monitors all until they are done, and
 * stores what they return.
 */
#ifndef KBLAT_RUN_REPETITION_H
#define KBLAT_RUN_REPETITION_H

#include "measure/run/session.h"

/* Stores the bytes that follow a "done" in files below `dir`. Their names come from outside, so they must be those of
 * the kernel's columns on that side. */
int columns_store(struct peer *p, const json_t *done, uint32_t messages, const char *dir, struct err *e);

/* With `explain` the columns are followed by the events of that side, stored in trace-<side>.npy and
 * trace-<side>.json. `asked`: this repetition may have them. */
int columns_store_trace(struct peer *p, json_t *done, bool asked, const char *dir, struct err *e);

/* Repetitions that are not part of the results. */
enum {
	REPETITION_WARM_UP = -1,
	REPETITION_CONTROL =
	    -2, /* without those threads of a kernel that are enabled by a setting, to show their cost */
	REPETITION_COMPARISON = -3, /* of clocks (clock_link.h) */
	REPETITION_UNTRACED = -4,   /* with `explain`, but without recording events, to show the cost of recording */
};

/* 0; -EINTR: stopped early, what was measured is kept; or another negative errno. `kept`: its
 * columns and counters have been stored. */
int repetition_run(struct session *s, long long number, bool *kept, struct err *e);

/* The directory for what a flow's endpoints return. The caller frees. */
char *repetition_dir(const struct session *s, const struct flow *f, long long number);

/* Remove all that is stored of it. */
void repetition_drop(const struct session *s, long long number);

/* Removes incomplete repetitions, so that each repetition has the counters of all flows. Called after the endpoints
 * have ended, because one that hung still stores its columns, as if the coordinator had died. */
void repetition_drop_incomplete(const struct session *s, long long number);

#endif
