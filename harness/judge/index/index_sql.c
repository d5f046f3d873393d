#include "judge/index/index_sql.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/err.h"

#define PRIMARY_CODE 0xff /* of an extended result code, such as SQLITE_CORRUPT_INDEX */

/* clang-format off */
static const char *const texts[INDEX_STATEMENTS] = {
	[INDEX_ADD_RUN] =
		"INSERT INTO runs (path, stamp, experiment, title, variant, status, sealed, valid, reason, started_utc, started_ns, "
		"ended_utc, version, source_commit, hosts, boots, kernels, points, not_comparable) "
		"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[INDEX_ADD_UNREADABLE] = "INSERT OR REPLACE INTO unreadable VALUES (?, ?, ?)",
	[INDEX_ADD_DOCUMENTS] = "INSERT INTO documents VALUES (?, ?, ?, ?)",
	[INDEX_ADD_POINT] = "INSERT OR REPLACE INTO points VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
	[INDEX_ADD_SETTING_SET] = "INSERT INTO setting_sets (json) VALUES (?)",
	[INDEX_FIND_SETTING_SET] = "SELECT id FROM setting_sets WHERE json = ?",
	[INDEX_ADD_SETTING] = "INSERT OR REPLACE INTO setting_values VALUES (?, ?, ?)",
	[INDEX_ADD_METRIC] = "INSERT OR REPLACE INTO metrics VALUES (?, ?, ?, ?, ?)",
	[INDEX_ADD_STATE] = "INSERT INTO states (host, base) VALUES (?, ?)",
	[INDEX_ADD_STATE_VALUE] = "INSERT OR REPLACE INTO state_values VALUES (?, ?, ?)",
	[INDEX_ADD_RUN_STATE] = "INSERT OR REPLACE INTO run_states VALUES (?, ?, ?)",
	[INDEX_STAMPS] = "SELECT path, stamp FROM runs UNION ALL SELECT path, stamp FROM unreadable",
	[INDEX_COUNT_UNREADABLE] = "SELECT count(*) FROM unreadable",
	[INDEX_RUNS] =
		"SELECT id, path, experiment, title, status, valid, reason, started_utc, hosts, kernels, version, source_commit, "
		"sealed FROM runs ORDER BY experiment, started_ns, path",
	[INDEX_UNREADABLE] = "SELECT path, why FROM unreadable ORDER BY path",
	[INDEX_DOCUMENTS] =
		"SELECT path, run_json, defaults, summary, boots, kernels, hosts, experiment, not_comparable FROM runs "
		"JOIN documents ON run = id WHERE ?1 IS NULL OR experiment = ?1 ORDER BY path",
	[INDEX_MEDIANS] =
		"SELECT r.id, p.point, p.setting_set, p.metric, p.median, p.valid FROM runs r JOIN points p ON p.run = r.id "
		"WHERE r.experiment IS ? ORDER BY r.started_ns, r.path, p.point",
	[INDEX_SETTING_SETS] =
		"SELECT id, json FROM setting_sets WHERE id IN "
		"(SELECT setting_set FROM runs r JOIN points p ON p.run = r.id WHERE r.experiment IS ?)",
};
/* clang-format on */

static void bind_json(sqlite3_stmt *s, int at, const json_t *value)
{
	char *text;

	switch (value ? json_typeof(value) : JSON_NULL) {
	case JSON_NULL:
		break;
	case JSON_STRING:
		sqlite3_bind_text(s, at, json_string_value(value), -1, SQLITE_TRANSIENT);
		break;
	case JSON_INTEGER:
		sqlite3_bind_int64(s, at, json_integer_value(value));
		break;
	case JSON_REAL:
		sqlite3_bind_double(s, at, json_real_value(value));
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		sqlite3_bind_int(s, at, json_is_true(value));
		break;
	default: /* settings and keys of a state have none of these types */
		text = json_dumps(value, JSON_COMPACT);
		sqlite3_bind_text(s, at, text, -1, free);
	}
}

static void bind_all(sqlite3_stmt *s, const char *types, va_list ap)
{
	for (int at = 1; *types; types++, at++) {
		if (*types == 'i')
			sqlite3_bind_int64(s, at, va_arg(ap, int64_t));
		else if (*types == 'f')
			sqlite3_bind_double(s, at, va_arg(ap, double));
		else if (*types == 't')
			sqlite3_bind_text(s, at, va_arg(ap, const char *), -1, SQLITE_TRANSIENT);
		else
			bind_json(s, at, va_arg(ap, const json_t *));
	}
}

sqlite3_stmt *index_sql(struct index *ix, enum index_statement which, const char *types, ...)
{
	sqlite3_stmt **s = &ix->statements[which];
	va_list ap;

	if (!*s && sqlite3_prepare_v3(ix->db, texts[which], -1, SQLITE_PREPARE_PERSISTENT, s, NULL) != SQLITE_OK)
		return NULL;
	sqlite3_reset(*s);
	sqlite3_clear_bindings(*s);
	va_start(ap, types);
	bind_all(*s, types, ap);
	va_end(ap);
	return *s;
}

int index_sql_failed(const struct index *ix, struct err *e)
{
	int code = sqlite3_errcode(ix->db) & PRIMARY_CODE;
	/* A constraint cannot be violated in an index that only kblat has written. */
	bool damaged =
	    code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_SCHEMA || code == SQLITE_CONSTRAINT;

	if (damaged)
		return err_set(e, -EBADMSG, STATUS_FAILED, ix->path, "use the index",
			       "it is damaged (%s); make it again with kblat index --anew", sqlite3_errmsg(ix->db));
	return err_set(e, -EIO, STATUS_FAILED, ix->path, "use the index", "%s", sqlite3_errmsg(ix->db));
}

int index_sql_next(struct index *ix, sqlite3_stmt *s, struct err *e)
{
	int rc = s ? sqlite3_step(s) : SQLITE_ERROR;

	if (rc == SQLITE_ROW)
		return 1;
	rc = rc == SQLITE_DONE ? 0 : index_sql_failed(ix, e);
	sqlite3_reset(s);
	return rc;
}

int index_sql_end(struct index *ix, sqlite3_stmt *s, struct err *e)
{
	int rc;

	while ((rc = index_sql_next(ix, s, e)) > 0)
		;
	return rc;
}

int index_sql_add_each(struct index *ix, enum index_statement which, int64_t owner, const json_t *object, struct err *e)
{
	const char *key;
	json_t *value;
	int rc = 0;

	json_object_foreach ((json_t *)object, key, value) {
		if (!rc)
			rc = index_sql_do(ix, e, which, "itj", owner, key, value);
	}
	return rc;
}

const char *index_sql_text(sqlite3_stmt *s, int column)
{
	const char *text = (const char *)sqlite3_column_text(s, column);

	return text ? text : "";
}

int64_t index_sql_integer(sqlite3_stmt *s, int column)
{
	return sqlite3_column_int64(s, column);
}

double index_sql_double(sqlite3_stmt *s, int column)
{
	return sqlite3_column_type(s, column) == SQLITE_NULL ? NAN : sqlite3_column_double(s, column);
}
