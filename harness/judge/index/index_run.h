/*
 * One run in an index: its rows, made from its JSON files.
 */
#ifndef KBLAT_INDEX_INDEX_RUN_H
#define KBLAT_INDEX_INDEX_RUN_H

#include <jansson.h>
#include <stdint.h>

#include "judge/index/index_sql.h"

/*
 * Add the run at `full`, whose path in the index is `path`. A run that cannot be read gets a row
 * among the unreadable ones instead. `bases` are the states known so far that others are stored as
 * differences from: host -> {"id", "keys"}; an empty object to begin with. `stamp` was taken before
 * reading, so that anything that changes meanwhile is read again the next time.
 */
int index_run_add(struct index *ix, json_t *bases, const char *full, const char *path, const char *stamp,
		  struct err *e);

#endif
