/*
 * Finds the run directories below a folder, three levels deep, in order of their names. Links and hidden folders are
 * skipped, and runs are not searched for inside runs.
 */
#ifndef KBLAT_RUNDIR_FIND_H
#define KBLAT_RUNDIR_FIND_H

struct err;

/* Call `visit` for `path` itself if it is a run directory, otherwise for those below it, until one call does not return
 * 0. Returns the value of the last call. */
typedef int find_visit(void *arg, const char *path, struct err *e);
int find_runs(const char *path, find_visit *visit, void *arg, struct err *e);

#endif
