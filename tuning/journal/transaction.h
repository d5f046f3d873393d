/*
 * All or nothing: steps are probed, written down, made in order and read back; where one fails, all
 * are undone in reverse, and the error says which and why. The caller holds the journal's lock.
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

/* Whether all steps may be made by us, here: 0, or a negative errno and `e` (STATUS_IMPOSSIBLE,
 * with the capability). */
int transaction_probe(struct machine *m, const struct plan *p, struct err *e);

/*
 * Make the plan's steps and add them to the journal `j`, whose own stay. 0; or a negative errno and
 * `e`: what was made is undone and the journal as it was (removed if it was empty); where that did
 * not work, either, the journal keeps what `restore` needs, and `e` says so. SIGINT, SIGTERM and
 * SIGHUP between two steps undo as well.
 */
int transaction_apply(struct machine *m, const struct plan *p, struct journal *j, struct err *e);

/* What an undo did. tuned is counted apart: it takes seconds, the rest milliseconds. */
struct undone {
	size_t steps, gone; /* gone: of these, those where nothing was left to be put back (STEP_GONE) */
	double tuned_s;
};

/*
 * Undo the journal's steps, last first; those of one knob alone, or one path alone (NULL: all).
 * What could not be undone stays in the journal; with nothing left that is removed. 0, or the first
 * failure's errno and `e`. `done` (may be NULL) gets what was undone.
 */
int transaction_undo(struct machine *m, struct journal *j, const char *knob, const char *path, struct undone *done,
		     struct err *e);

/* Of a monotonic clock. */
double transaction_now_s(void);

struct drift {
	size_t drifted, pending;
	json_t *list; /* {"knob", "path", "want", "now", "state": "drift"|"pending"}; the caller decrefs */
};

/* Compare the machine with what the journal says was made. */
void transaction_verify(struct machine *m, const struct journal *j, struct drift *d);

#endif
