/*
 * The statements that an index is read and written with, each prepared once.
 */
#ifndef KBLAT_INDEX_INDEX_SQL_H
#define KBLAT_INDEX_INDEX_SQL_H

#include <jansson.h>
#include <sqlite3.h>
#include <stdint.h>

struct err;

enum index_statement {
	INDEX_ADD_RUN,
	INDEX_ADD_UNREADABLE,
	INDEX_ADD_DOCUMENTS,
	INDEX_ADD_POINT,
	INDEX_ADD_SETTING_SET,
	INDEX_FIND_SETTING_SET,
	INDEX_ADD_SETTING,
	INDEX_ADD_METRIC,
	INDEX_ADD_STATE,
	INDEX_ADD_STATE_VALUE,
	INDEX_ADD_RUN_STATE,
	INDEX_FIND_BASE,
	INDEX_STATE_VALUES,
	INDEX_REMOVE_RUN,
	INDEX_REMOVE_POINTS,
	INDEX_REMOVE_METRICS,
	INDEX_REMOVE_DOCUMENTS,
	INDEX_REMOVE_STATES,
	INDEX_REMOVE_UNREADABLE,
	INDEX_STAMPS,
	INDEX_COUNT_UNREADABLE,
	INDEX_RUNS,
	INDEX_UNREADABLE,
	INDEX_DOCUMENTS,
	INDEX_MEDIANS,
	INDEX_SETTING_SETS,
	INDEX_STATEMENTS
};

/* An open index; index/index_file.h opens and closes it. */
struct index {
	char *dir, *path; /* the folder, the file */
	sqlite3 *db;
	sqlite3_stmt *statements[INDEX_STATEMENTS];
};

/*
 * Bind what follows: 'i' an int64_t, 'f' a double, 't' a text that may be NULL, 'j' a scalar of
 * JSON. A statement that can't be prepared is NULL, and fails when it is stepped.
 */
sqlite3_stmt *index_sql(struct index *ix, enum index_statement which, const char *types, ...);

/* 1: there is another row; 0: there is none; else a negative errno, as of index_sql_failed(). */
int index_sql_next(struct index *ix, sqlite3_stmt *s, struct err *e);

/* A statement without rows, from its beginning to its end. */
#define index_sql_do(ix, e, which, ...) index_sql_end(ix, index_sql(ix, which, __VA_ARGS__), e)
int index_sql_end(struct index *ix, sqlite3_stmt *s, struct err *e);

/* A row for each key of an object, of whom it belongs to: a statement of "itj". */
int index_sql_add_each(struct index *ix, enum index_statement which, int64_t owner, const json_t *object,
		       struct err *e);

/* The text of a column, "" where there is none. Until the next step. */
const char *index_sql_text(sqlite3_stmt *s, int column);

/* Why SQLite failed: -EBADMSG where the file is damaged, else -EIO. */
int index_sql_failed(const struct index *ix, struct err *e);

#endif
