/*
 * The tables and views of an index of runs, as described in docs/runs.md. A file is only accepted
 * as an index if its schema equals this one byte by byte, which rules out triggers and other code
 * that would be executed when it is read.
 */
#ifndef KBLAT_INDEX_INDEX_SCHEMA_H
#define KBLAT_INDEX_INDEX_SCHEMA_H

#include <sqlite3.h>
#include <stdbool.h>

/* Create the tables in an empty database: SQLITE_OK or the error. */
int index_schema_make(sqlite3 *db);

/* Is this an index of this version? */
bool index_schema_is(sqlite3 *db);

/* Delete rows that belong to no run in the index: of removed runs, or written by another program. SQLITE_OK or the
 * error. */
int index_schema_clean(sqlite3 *db);

#endif
