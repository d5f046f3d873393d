/*
 * Restores everything.
 */
#ifndef KBLAT_TUNING_RESTORE_H
#define KBLAT_TUNING_RESTORE_H

#include "common/err.h"
#include "tuning/apply/output.h"

struct machine;

/* Undo everything in the journal; with an `owner`, only if the journal belongs to it. Returns an exit status, and fills
 * `e` on failure. */
enum status restore_all(struct machine *m, const char *owner, enum output output, struct err *e);

#endif
