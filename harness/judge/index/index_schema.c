#include "judge/index/index_schema.h"

#include <string.h>

/* "kbix". Changes of the tables increment the version, so that indexes are made again. */
#define SET_IDENTITY "PRAGMA application_id = 1801611640; PRAGMA user_version = 1"
#define IDENTITY     1801611640
#define VERSION	     1

/* clang-format off */
static const char *const objects[] = {
	"CREATE TABLE runs (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL, experiment TEXT, "
	"title TEXT, variant TEXT, status TEXT, sealed INTEGER, valid INTEGER, reason TEXT, started_utc TEXT, "
	"started_ns INTEGER, ended_utc TEXT, version TEXT, source_commit TEXT, hosts TEXT, boots TEXT, kernels TEXT, "
	"points INTEGER, not_comparable TEXT)",
	"CREATE TABLE unreadable (path TEXT PRIMARY KEY, stamp TEXT, why TEXT)",
	"CREATE TABLE documents (run INTEGER PRIMARY KEY, run_json TEXT, defaults TEXT, summary TEXT)",
	"CREATE TABLE points (run INTEGER, point INTEGER, setting_set INTEGER, outcome TEXT, valid INTEGER, reason TEXT, "
	"metric TEXT, median REAL, PRIMARY KEY (run, point)) WITHOUT ROWID",
	"CREATE TABLE setting_sets (id INTEGER PRIMARY KEY, json TEXT NOT NULL UNIQUE)",
	"CREATE TABLE setting_values (setting_set INTEGER, key TEXT, value, PRIMARY KEY (setting_set, key)) WITHOUT ROWID",
	"CREATE TABLE metrics (run INTEGER, point INTEGER, metric TEXT, statistic TEXT, value REAL, "
	"PRIMARY KEY (run, point, metric, statistic)) WITHOUT ROWID",
	"CREATE TABLE states (id INTEGER PRIMARY KEY, host TEXT NOT NULL, base INTEGER)",
	"CREATE TABLE state_values (state INTEGER, key TEXT, value, PRIMARY KEY (state, key)) WITHOUT ROWID",
	"CREATE TABLE run_states (run INTEGER, host TEXT, state INTEGER, PRIMARY KEY (run, host)) WITHOUT ROWID",
	"CREATE INDEX runs_of_experiment ON runs (experiment, started_ns)",
	"CREATE INDEX runs_of_state ON run_states (state)",
	"CREATE VIEW settings AS SELECT p.run, p.point, v.key, v.value FROM points p "
	"JOIN setting_values v ON v.setting_set = p.setting_set",
	"CREATE VIEW state_keys AS SELECT r.run, r.host, v.key, v.value FROM run_states r "
	"JOIN state_values v ON v.state = r.state WHERE v.value IS NOT NULL "
	"UNION ALL SELECT r.run, r.host, b.key, b.value FROM run_states r JOIN states s ON s.id = r.state "
	"JOIN state_values b ON b.state = s.base WHERE NOT EXISTS "
	"(SELECT 1 FROM state_values v WHERE v.state = s.id AND v.key = b.key)",
};
/* clang-format on */

#define OBJECTS (sizeof(objects) / sizeof(objects[0]))

int index_schema_make(sqlite3 *db)
{
	int rc = sqlite3_exec(db, SET_IDENTITY, NULL, NULL, NULL);

	for (size_t i = 0; i < OBJECTS && rc == SQLITE_OK; i++)
		rc = sqlite3_exec(db, objects[i], NULL, NULL, NULL);
	return rc;
}

static bool has_number(sqlite3 *db, const char *pragma, int number)
{
	sqlite3_stmt *s = NULL;
	bool same = sqlite3_prepare_v2(db, pragma, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW &&
		    sqlite3_column_int(s, 0) == number;

	sqlite3_finalize(s);
	return same;
}

static bool has_objects(sqlite3 *db)
{
	sqlite3_stmt *s = NULL;
	size_t i = 0;
	bool same = sqlite3_prepare_v2(db, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid", -1, &s,
				       NULL) == SQLITE_OK;

	while (same && sqlite3_step(s) == SQLITE_ROW) {
		const char *sql = (const char *)sqlite3_column_text(s, 0);

		same = i < OBJECTS && sql && !strcmp(sql, objects[i++]);
	}
	sqlite3_finalize(s);
	return same && i == OBJECTS;
}

bool index_schema_is(sqlite3 *db)
{
	return has_number(db, "PRAGMA application_id", IDENTITY) && has_number(db, "PRAGMA user_version", VERSION) &&
	       has_objects(db);
}

int index_schema_clean(sqlite3 *db)
{
	static const char *const orphans[] = {
	    /* Paths by which no row can be found. */
	    "DELETE FROM unreadable WHERE typeof(path) <> 'text' OR instr(path, char(0))",
	    "DELETE FROM documents WHERE run NOT IN (SELECT id FROM runs)",
	    "DELETE FROM points WHERE run NOT IN (SELECT id FROM runs)",
	    "DELETE FROM metrics WHERE run NOT IN (SELECT id FROM runs)",
	    "DELETE FROM run_states WHERE run NOT IN (SELECT id FROM runs)",
	    "DELETE FROM setting_sets WHERE id NOT IN (SELECT setting_set FROM points WHERE setting_set IS NOT NULL)",
	    "DELETE FROM setting_values WHERE setting_set NOT IN (SELECT id FROM setting_sets)",
	    ("DELETE FROM states WHERE id NOT IN (SELECT state FROM run_states WHERE state IS NOT NULL UNION "
	     "SELECT base FROM states JOIN run_states ON state = id WHERE base IS NOT NULL)"),
	    "DELETE FROM state_values WHERE state NOT IN (SELECT id FROM states)",
	};
	int rc = SQLITE_OK;

	for (size_t i = 0; i < sizeof(orphans) / sizeof(orphans[0]) && rc == SQLITE_OK; i++)
		rc = sqlite3_exec(db, orphans[i], NULL, NULL, NULL);
	return rc;
}
