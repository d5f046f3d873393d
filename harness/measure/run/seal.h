/*
 * The end of a repetition and of a run: summarises what was measured, judges the claims, and seals the directory. What
 * measures knows of what judges no more than this.
 */
#ifndef KBLAT_RUN_SEAL_H
#define KBLAT_RUN_SEAL_H

#include "files/rundir/writer.h"

struct summary;

/* Reduce the columns of a repetition to what figures need (judge/analysis/reduce.h). */
int seal_repetition(const char *path, const json_t *resolved, unsigned point, unsigned rep, struct err *e);

/* `status`: COMPLETED, FAILED or INTERRUPTED. The caller frees `*summary`. */
int seal_run(struct rundir *r, const char *status, struct summary **summary, struct err *e);
void seal_free_summary(struct summary *summary);

#endif
