/*
 * Everything back as it was.
 */
#ifndef KBLAT_TUNING_RESTORE_H
#define KBLAT_TUNING_RESTORE_H

#include "common/err.h"
#include "tuning/apply/output.h"

struct machine;

/* Undo all that the journal has; with an `owner`, only if it is the owner's. An exit status, and `e`
 * where it failed. */
enum status restore_all(struct machine *m, const char *owner, enum output output, struct err *e);

#endif
