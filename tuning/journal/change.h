/*
 * Opens the journal for a change of the machine, and locks it.
 */
#ifndef KBLAT_TUNING_CHANGE_H
#define KBLAT_TUNING_CHANGE_H

#include "tuning/journal/journal.h"

struct err;
struct machine;

/*
 * `j` is what is there, or a new one (of `profile`): a moot one, of another boot, is removed, and
 * said so. What such a one has left is undone first for a profile, which is planned after that
 * only; single commands ("") have been planned, and are refused. -EEXIST and `e` where one is unfinished, -EBUSY where another user has changed the machine (exclusion.h). The lock is `*lock`. End it with change_end
 * where this returns 0.
 */
int change_begin(struct machine *m, const char *profile, struct journal *j, int *lock, struct err *e);
void change_end(struct machine *m, struct journal *j, int lock);

/* -EEXIST and `e` if an earlier change was interrupted. */
int change_refuse_unfinished(const struct journal *j, struct err *e);

#endif
