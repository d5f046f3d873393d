/*
 * All operations, by the names that the journal has.
 */
#ifndef KBLAT_TUNING_OPS_H
#define KBLAT_TUNING_OPS_H

struct op;

/* NULL where there is none of that name. */
const struct op *ops_find(const char *name);

#endif
