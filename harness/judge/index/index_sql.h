/*
 * The SQL statements that read and write an index, each prepared once.
 */
#ifndef KBLAT_INDEX_INDEX_SQL_H
#define KBLAT_INDEX_INDEX_SQL_H

#include <jansson.h>
#include <stdint.h>

struct err;
typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;

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
	INDEX_STAMPS,
	INDEX_COUNT_UNREADABLE,
	INDEX_RUNS,
	INDEX_UNREADABLE,
	INDEX_DOCUMENTS,
	INDEX_MEDIANS,
	INDEX_SETTING_SETS,
	INDEX_STATEMENTS
};

/* An open index; judge/index/index_file.h opens and closes it. */
struct index {
	char *dir, *path; /* the folder, the file */
	sqlite3 *db;
	sqlite3_stmt *statements[INDEX_STATEMENTS];
};

/*
 * Prepare a statement and bind the arguments: 'i' an int64_t, 'f' a double, 't' a text that may be
 * NULL, 'j' a JSON scalar. If it cannot be prepared, the result is NULL, which index_sql_next() and
 * index_sql_end() report as an error.
 */
sqlite3_stmt *index_sql(struct index *ix, enum index_statement which, const char *types, ...);

/* 1: there is another row; 0: there is none; otherwise a negative errno from index_sql_failed(). */
int index_sql_next(struct index *ix, sqlite3_stmt *s, struct err *e);

/* Execute a statement that does not return rows. */
#define index_sql_do(ix, e, which, ...) index_sql_end(ix, index_sql(ix, which, __VA_ARGS__), e)
int index_sql_end(struct index *ix, sqlite3_stmt *s, struct err *e);

/* Add a row for each key of `object`, which belongs to `owner`. `which` is a statement with the
 * parameters "itj". */
int index_sql_add_each(struct index *ix, enum index_statement which, int64_t owner, const json_t *object,
		       struct err *e);

/* The text of a column, "" if there is none. Valid until the next step. */
const char *index_sql_text(sqlite3_stmt *s, int column);

/* The number in a column, 0 if there is none; or, as a double, NAN. */
int64_t index_sql_integer(sqlite3_stmt *s, int column);
double index_sql_double(sqlite3_stmt *s, int column);

/* Reports why SQLite failed: -EBADMSG if the file is damaged, otherwise -EIO. */
int index_sql_failed(const struct index *ix, struct err *e);

#endif
