/*
 * The end of a run: summarises what was measured, judges the claims, and seals the directory.
 */
#ifndef KBLAT_RUN_SEAL_H
#define KBLAT_RUN_SEAL_H

#include "rundir/writer.h"

/* `status`: COMPLETED, FAILED or INTERRUPTED. `*summary`: new reference. */
int seal_run(struct rundir *r, const char *status, json_t **summary, struct err *e);

#endif
