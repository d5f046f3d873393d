/*
 * All or nothing: steps are probed, recorded, made in order and read back. If one fails, all are undone in reverse
 * order, and the error says which one failed and why. The caller holds the journal's lock.
 */
#ifndef KBLAT_TUNING_TRANSACTION_H
#define KBLAT_TUNING_TRANSACTION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "tuning/journal/journal.h"

struct err;
struct machine;
struct plan;

/* May we make all steps on this machine? 0, or a negative errno and `e` (STATUS_IMPOSSIBLE, with the required
 * capability). */
int transaction_probe(struct machine *m, const struct plan *p, struct err *e);

/*
 * Make the plan's steps and add them to the journal `j`, in addition to those already there. 0; or a negative errno and
 * `e`, after which the steps made are undone and the journal is as before (removed if it was empty). If undoing fails,
 * too, the journal keeps what `restore` needs, and `e` says so. SIGINT, SIGTERM and SIGHUP between two steps also undo
 * them.
 */
int transaction_apply(struct machine *m, const struct plan *p, struct journal *j, struct err *e);

/* What was undone. tuned's time is separate, because it takes seconds, and the rest milliseconds. */
struct undone {
	size_t steps, gone; /* gone: those of them for which nothing was left to restore (STEP_GONE) */
	size_t left;	    /* those that were given up, and are in given_up.h's list */
	double tuned_s;
};

/*
 * Undo the journal's steps, the last one first; only those of one knob or one path, unless these are NULL. Steps that
 * cannot be undone stay in the journal; an empty journal is removed. 0, or the errno of the first failure and `e`.
 * `done` (may be NULL) gets what was undone.
 */
int transaction_undo(struct machine *m, struct journal *j, const char *knob, const char *path, struct undone *done,
		     struct err *e);

/* Of a monotonic clock. */
double transaction_now_s(void);

struct drift {
	size_t drifted, pending;
	json_t *list; /* {"knob", "path", "want", "now", "state": "drift"|"pending"}; the caller decrefs */
};

/* Compare the machine with the steps in the journal. */
void transaction_verify(struct machine *m, const struct journal *j, struct drift *d);

#endif
