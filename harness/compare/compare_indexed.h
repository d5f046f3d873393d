/*
 * Runs for a history from an index instead of from their directories: the same, without opening
 * thousands of files.
 */
#ifndef KBLAT_COMPARE_INDEXED_H
#define KBLAT_COMPARE_INDEXED_H

#include "compare/compare_runs.h"

/* As compare_runs_add(), from the index of `path` where it is current and can answer; else from the
 * directories. */
int compare_indexed_add(struct compare_runs *all, const char *path, enum compare_arm arm, const char *experiment,
			struct err *e);

#endif
