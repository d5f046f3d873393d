/*
 * Keeping an index current with the runs below a folder.
 */
#ifndef KBLAT_INDEX_INDEX_UPDATE_H
#define KBLAT_INDEX_INDEX_UPDATE_H

#include <stdbool.h>
#include <stddef.h>

#include "index/index_sql.h"

/* What came of it. */
struct index_changes {
	size_t runs, read, removed, unreadable; /* in it now; read this time; gone; that could not be read */
	bool replaced;				/* what was there was damaged, or no index of this version */
};

/* Read what is new or has changed below `dir`, and write its index where there was anything; `anew`:
 * whatever is there already. */
int index_update(const char *dir, bool anew, struct index_changes *changes, struct err *e);

/*
 * Open the index of `dir` if it is current: 0, or -ESTALE if there is none that is. Release
 * with index_file_close().
 */
int index_open_current(struct index *ix, const char *dir);

#endif
