/*
 * The run directories below a folder: three levels deep, in order of their names. Links and hidden
 * folders are passed over, and nothing is looked for inside of a run.
 */
#ifndef KBLAT_RUNDIR_FIND_H
#define KBLAT_RUNDIR_FIND_H

struct err;

/* Call `visit` for `path` itself if it is a run directory, else for those below it, until one
 * returns other than 0; that is returned. */
typedef int find_visit(void *arg, const char *path, struct err *e);
int find_runs(const char *path, find_visit *visit, void *arg, struct err *e);

#endif
