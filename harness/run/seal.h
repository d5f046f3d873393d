/*
 * The end of a run: what it measured is summarised and its claims judged, then its directory is sealed.
 */
#ifndef KBLAT_RUN_SEAL_H
#define KBLAT_RUN_SEAL_H

#include "rundir/writer.h"

/* `status`: COMPLETED, FAILED or INTERRUPTED. `*summary`: new reference. */
int seal_run(struct rundir *r, const char *status, json_t **summary, struct err *e);

#endif
