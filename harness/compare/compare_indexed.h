/*
 * Reads runs for a history from an index instead of their directories. The result is the same, but
 * thousands of files need not be opened.
 */
#ifndef KBLAT_COMPARE_INDEXED_H
#define KBLAT_COMPARE_INDEXED_H

#include "compare/compare_runs.h"

/* Like compare_runs_add(), but uses the index of `path` if it is up to date and has the data;
 * otherwise the directories. */
int compare_indexed_add(struct compare_runs *all, const char *path, enum compare_arm arm, const char *experiment,
			struct err *e);

#endif
