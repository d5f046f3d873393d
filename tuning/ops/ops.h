/*
 * All operations, with the names used in the journal.
 */
#ifndef KBLAT_TUNING_OPS_H
#define KBLAT_TUNING_OPS_H

struct op;

/* NULL if there is none with that name. */
const struct op *ops_find(const char *name);

#endif
