/*
 * What an index of runs holds: tables and views, as docs/runs.md describes them. A file is an index
 * of ours only if its schema is this one, to the byte: then there is nothing in it that runs when it
 * is read.
 */
#ifndef KBLAT_INDEX_INDEX_SCHEMA_H
#define KBLAT_INDEX_INDEX_SCHEMA_H

#include <sqlite3.h>
#include <stdbool.h>

/* Make the tables in an empty database: SQLITE_OK or what failed. */
int index_schema_make(sqlite3 *db);

/* Is this an index, of this version? */
bool index_schema_is(sqlite3 *db);

#endif
