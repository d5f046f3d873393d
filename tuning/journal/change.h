/*
 * Opens the journal for a change of the machine, and locks it.
 */
#ifndef KBLAT_TUNING_CHANGE_H
#define KBLAT_TUNING_CHANGE_H

#include "tuning/journal/journal.h"

struct err;
struct machine;

/*
 * `j` is the existing journal, or a new one (for `profile`). A journal of another boot is obsolete,
 * and is removed with a message. What it has left behind is restored first for a profile, which is
 * only planned after that; single commands ("") have already been planned, and are rejected.
 * -EEXIST and `e` where one is unfinished, -EBUSY where another user has changed the machine
 * (exclusion.h). The lock is `*lock`. End it with change_end where this returns 0.
 */
int change_begin(struct machine *m, const char *profile, struct journal *j, int *lock, struct err *e);
void change_end(struct machine *m, struct journal *j, int lock);

/* Such a change as a whole: undo what the journal has of `knob`. Returns the number of steps undone,
 * or a negative errno. */
int change_undo(struct machine *m, const char *knob, struct err *e);

/* -EEXIST and `e` if an earlier change was interrupted. */
int change_refuse_unfinished(const struct journal *j, struct err *e);

#endif
