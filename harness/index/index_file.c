#include "index/index_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/lock_holder.h"
#include "common/or_abort.h"
#include "index/index_schema.h"

#define CHUNK ((size_t)1 << 30)

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

/* "file:/a%20b?immutable=1": the file is replaced and never changed, so it needs neither locks nor
 * a journal. This can only be requested with a URI. */
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

static int copy_to(const char *path, int to)
{
	int from = fs_open(path, 0), rc = from < 0 ? from : 0;
	ssize_t n = 1;

	while (!rc && n > 0) {
		n = sendfile(to, from, NULL, CHUNK);
		rc = n < 0 ? -errno : 0;
	}
	if (from >= 0)
		close(from);
	return rc;
}

/* The name is always the same, so that the next writer removes what a killed one has left. */
static int make_temporary(struct index_writer *w, bool copy, mode_t mode, struct err *e)
{
	int fd, rc = unlink(w->temporary) && errno != ENOENT ? -errno : 0;

	if (rc)
		return err_sys(e, rc, w->temporary, "remove what is left of an earlier index");
	fd = open(w->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return err_sys(e, -errno, w->temporary, "make the index");
	rc = copy ? copy_to(w->index.path, fd) : 0;
	close(fd);
	return rc ? err_sys(e, rc, w->temporary, "copy the index") : 0;
}

static bool is_sound(sqlite3 *db)
{
	sqlite3_stmt *s = NULL;
	bool sound = sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &s, NULL) == SQLITE_OK &&
		     sqlite3_step(s) == SQLITE_ROW && !strcmp(index_sql_text(s, 0), "ok");

	sqlite3_finalize(s);
	return sound;
}

/* A private file that is not the index yet, so nothing needs a journal or synchronisation. */
static int open_temporary(struct index_writer *w, bool copied, struct err *e)
{
	int rc = open_database(&w->index, w->temporary, SQLITE_OPEN_READWRITE);

	if (rc == SQLITE_OK)
		rc = sqlite3_exec(w->index.db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN", NULL, NULL,
				  NULL);
	if (rc == SQLITE_OK && copied)
		return index_schema_is(w->index.db) && is_sound(w->index.db) ? 0 : -EBADMSG;
	if (rc == SQLITE_OK)
		rc = index_schema_make(w->index.db);
	return rc == SQLITE_OK ? 0 : copied ? -EBADMSG : index_sql_failed(&w->index, e);
}

int index_file_begin(struct index_writer *w, const char *dir, bool anew, mode_t mode, struct err *e)
{
	int rc;

	*w = (struct index_writer){.index = {.dir = fs_path("%s", dir), .path = fs_path("%s/" INDEX_FILE, dir)},
				   .temporary = fs_path("%s/." INDEX_FILE ".tmp", dir)};
	rc = check_place(w->index.path, e);
	anew |= rc == -ENOENT;
	if (rc == -ENOENT)
		rc = 0;
	rc = rc ?: make_temporary(w, !anew, mode, e) ?: open_temporary(w, !anew, e);
	if (rc)
		index_file_abandon(w);
	return rc;
}

static int sync_and_rename(struct index_writer *w, struct err *e)
{
	int rc = fs_sync(w->temporary, e);

	if (!rc && rename(w->temporary, w->index.path))
		rc = err_sys(e, -errno, w->index.path, "put the index in place");
	return rc;
}

int index_file_commit(struct index_writer *w, struct err *e)
{
	int rc =
	    sqlite3_exec(w->index.db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK ? 0 : index_sql_failed(&w->index, e);

	close_database(&w->index);
	rc = rc ?: sync_and_rename(w, e);
	index_file_abandon(w);
	return rc;
}

/* After a commit, no file of this name exists. */
void index_file_abandon(struct index_writer *w)
{
	index_file_close(&w->index);
	unlink(w->temporary);
	free(w->temporary);
	w->temporary = NULL;
}
