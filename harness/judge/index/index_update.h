/*
 * Keeps an index up to date with the runs below a folder.
 */
#ifndef KBLAT_INDEX_INDEX_UPDATE_H
#define KBLAT_INDEX_INDEX_UPDATE_H

#include <stdbool.h>
#include <stddef.h>

#include "judge/index/index_sql.h"

/* The outcome of an update. */
struct index_changes {
	/* runs in the index now; runs read: all or none; runs gone; runs that could not be read */
	size_t runs, read, removed, unreadable;
	bool replaced; /* the old file was damaged, or not an index of this version */
};

/* Unless the index of `dir` is up to date: read all runs below it, and replace the index. `anew`: in any case. */
int index_update(const char *dir, bool anew, struct index_changes *changes, struct err *e);

/*
 * Open the index of `dir` if it is up to date: 0, or -ESTALE if there is no such index. Release
 * with index_file_close().
 */
int index_open_current(struct index *ix, const char *dir);

#endif
