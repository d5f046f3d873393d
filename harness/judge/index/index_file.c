#include "judge/index/index_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/lock_holder.h"
#include "common/or_abort.h"

/* --- schema --- */

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

/* Create the tables in an empty database: SQLITE_OK or the error. */
static int index_schema_make(sqlite3 *db)
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

/* Is this an index of this version? */
static bool index_schema_is(sqlite3 *db)
{
	return has_number(db, "PRAGMA application_id", IDENTITY) && has_number(db, "PRAGMA user_version", VERSION) &&
	       has_objects(db);
}

/* --- reading --- */

/* The index must be a regular file: 0, -ENOENT, or an error in `e`. */
static int check_place(const char *path, struct err *e)
{
	struct stat st;

	if (lstat(path, &st))
		return errno == ENOENT ? -ENOENT : err_sys(e, -errno, path, "use the index");
	if (S_ISREG(st.st_mode))
		return 0;
	return err_set(e, -ELOOP, STATUS_USAGE, path, "use the index",
		       "expected a file, found %s; remove it and run kblat index again",
		       S_ISLNK(st.st_mode)   ? "a link"
		       : S_ISDIR(st.st_mode) ? "a directory"
					     : "something other than a regular file");
}

/* Nothing in the database may be executed, and what is read is checked. */
static int open_database(struct index *ix, const char *path, int flags)
{
	int rc = sqlite3_open_v2(path, &ix->db, flags | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE, NULL);

	if (rc != SQLITE_OK)
		return rc;
	sqlite3_db_config(ix->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(ix->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(ix->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	return sqlite3_exec(ix->db, "PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
}

/* "file:/a%20b?immutable=1": the file is replaced and never changed, so it needs neither locks nor a
 * journal, and one that somebody has put beside it is ignored. This can only be requested with a URI. */
static char *immutable_uri(const char *path)
{
	char *uri = NULL;
	size_t size;
	FILE *out = or_abort(open_memstream(&uri, &size));

	fprintf(out, "file:");
	for (; *path; path++)
		fprintf(out, strchr("%?# ", *path) ? "%%%02X" : "%c", (unsigned char)*path);
	fprintf(out, "?immutable=1");
	fclose(out);
	return or_abort(uri);
}

int index_file_open(struct index *ix, const char *dir, struct err *e)
{
	char *uri;
	int rc;

	*ix = (struct index){.dir = fs_path("%s", dir), .path = fs_path("%s/" INDEX_FILE, dir)};
	rc = check_place(ix->path, e);
	if (rc) {
		index_file_close(ix);
		return rc;
	}
	uri = immutable_uri(ix->path);
	rc = open_database(ix, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI) == SQLITE_OK && index_schema_is(ix->db)
		 ? 0
		 : -EBADMSG;
	free(uri);
	if (rc)
		index_file_close(ix);
	return rc;
}

mode_t index_file_mode(const struct index *ix)
{
	struct stat st;

	return lstat(ix->path, &st) ? S_IRUSR | S_IWUSR : st.st_mode & 0666;
}

bool index_file_is_missing(const char *dir)
{
	char *path = fs_path("%s/" INDEX_FILE, dir);
	bool missing = fs_is_missing(path);

	free(path);
	return missing;
}

static void close_database(struct index *ix)
{
	for (size_t i = 0; i < INDEX_STATEMENTS; i++) {
		sqlite3_finalize(ix->statements[i]);
		ix->statements[i] = NULL;
	}
	sqlite3_close(ix->db);
	ix->db = NULL;
}

void index_file_close(struct index *ix)
{
	close_database(ix);
	free(ix->path);
	free(ix->dir);
	*ix = (struct index){0};
}

/* --- writing --- */

static int wait_for_lock(int fd, const char *dir)
{
	char holder[LOCK_HOLDER_MAX];

	fprintf(stderr, "%s: waiting for another kblat%s that is writing its index\n", dir,
		lock_holder(fd, holder, sizeof(holder)));
	return flock(fd, LOCK_EX) ? -errno : 1;
}

int index_file_lock(const char *dir, int *lock, struct err *e)
{
	int rc;

	*lock = fs_open(dir, O_DIRECTORY);
	rc = *lock < 0 ? *lock : flock(*lock, LOCK_EX | LOCK_NB) ? -errno : 0;
	if (rc == -EWOULDBLOCK)
		rc = wait_for_lock(*lock, dir);
	if (rc >= 0)
		return rc;
	if (*lock >= 0)
		close(*lock);
	return err_sys(e, rc, dir, "lock the folder");
}

/* What is written stays in memory until it is complete: SQLite looks for journals beside a file, and one that somebody
 * has put there can make it change or delete any file of the caller. */
static int open_in_memory(struct index *ix, struct err *e)
{
	int rc = open_database(ix, ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY);

	if (rc == SQLITE_OK)
		rc = sqlite3_exec(ix->db, "PRAGMA journal_mode = OFF; BEGIN", NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = index_schema_make(ix->db);
	return rc == SQLITE_OK ? 0 : index_sql_failed(ix, e);
}

int index_file_begin(struct index_writer *w, const char *dir, mode_t mode, struct err *e)
{
	int rc;

	*w = (struct index_writer){.index = {.dir = fs_path("%s", dir), .path = fs_path("%s/" INDEX_FILE, dir)},
				   .temporary = fs_path("%s/." INDEX_FILE ".tmp", dir),
				   .mode = mode};
	rc = check_place(w->index.path, e);
	if (!rc || rc == -ENOENT)
		rc = open_in_memory(&w->index, e);
	if (rc)
		index_file_abandon(w);
	return rc;
}

static int write_all(int fd, const unsigned char *data, sqlite3_int64 size)
{
	while (size) {
		ssize_t n = write(fd, data, (size_t)size);

		if (n < 0 && errno != EINTR)
			return -errno;
		data += n > 0 ? n : 0;
		size -= n > 0 ? n : 0;
	}
	return fsync(fd) ? -errno : 0;
}

/* Other programs would apply such files, of another state of the index, to the new one. */
static int remove_journals(const struct index_writer *w, struct err *e)
{
	static const char *const ends[] = {"-journal", "-wal", "-shm"};
	int rc = 0;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]) && !rc; i++) {
		char *path = fs_path("%s%s", w->index.path, ends[i]);

		if (unlink(path) && errno != ENOENT)
			rc = err_sys(e, -errno, path, "remove what belongs to an earlier index");
		free(path);
	}
	return rc;
}

/* The name is always the same, so that the next writer removes what a killed one has left. */
static int write_temporary(const struct index_writer *w, const unsigned char *data, sqlite3_int64 size, struct err *e)
{
	int fd, rc = unlink(w->temporary) && errno != ENOENT ? -errno : 0;

	if (rc)
		return err_sys(e, rc, w->temporary, "remove what is left of an earlier index");
	fd = open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, w->mode);
	if (fd < 0)
		return err_sys(e, -errno, w->temporary, "make the index");
	rc = write_all(fd, data, size);
	close(fd);
	if (!rc && !rename(w->temporary, w->index.path))
		return 0;
	rc = err_sys(e, rc ? rc : -errno, w->temporary, "write the index");
	unlink(w->temporary);
	return rc;
}

int index_file_commit(struct index_writer *w, struct err *e)
{
	sqlite3_int64 size = 0;
	unsigned char *data = NULL;
	int rc =
	    sqlite3_exec(w->index.db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK ? 0 : index_sql_failed(&w->index, e);

	if (!rc) {
		data = or_abort(sqlite3_serialize(w->index.db, "main", &size, 0));
		rc = remove_journals(w, e) ?: write_temporary(w, data, size, e);
	}
	sqlite3_free(data);
	index_file_abandon(w);
	return rc;
}

void index_file_abandon(struct index_writer *w)
{
	index_file_close(&w->index);
	free(w->temporary);
	w->temporary = NULL;
}
