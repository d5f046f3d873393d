#include "judge/index/index_update.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/trust.h"
#include "files/rundir/find.h"
#include "files/rundir/run_mode.h"
#include "judge/index/index_file.h"
#include "judge/index/index_run.h"

/*
 * Detects whether a run directory has changed since it was read. The stamp is a hash of what
 * stat(2) returns for the files that an index is made from: inode, mode, size and times.
 */

#define INDEX_STAMP_MAX 17

#define FNV_BASIS 14695981039346656037U
#define FNV_PRIME 1099511628211U

static void add_bytes(uint64_t *sum, const void *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		*sum = (*sum ^ ((const unsigned char *)data)[i]) * FNV_PRIME;
}

/* A missing file counts, too. */
static void add_file(uint64_t *sum, char *path)
{
	struct stat st = {0};

	if (lstat(path, &st))
		st = (struct stat){0};
	add_bytes(sum, &st.st_ino, sizeof(st.st_ino));
	add_bytes(sum, &st.st_mode, sizeof(st.st_mode));
	add_bytes(sum, &st.st_size, sizeof(st.st_size));
	add_bytes(sum, &st.st_mtim, sizeof(st.st_mtim));
	add_bytes(sum, &st.st_ctim, sizeof(st.st_ctim));
	free(path);
}

static void add_captures(uint64_t *sum, const char *run_path)
{
	char *state = fs_path("%s/state", run_path);
	struct dirent **names;
	int n = fs_scandir(state, &names, fs_is_visible, alphasort);

	for (int i = 0; i < n; i++) {
		add_file(sum, fs_path("%s/%s/before/state.json", state, names[i]->d_name));
		free(names[i]);
	}
	free(names);
	free(state);
}

/* 16 hexadecimal digits. Returns `buf`. */
static char *index_stamp(const char *run_path, char buf[INDEX_STAMP_MAX])
{
	static const char *const names[] = {"run.json", "resolved.json", "summary.json", "manifest-sha256.txt"};
	uint64_t sum = FNV_BASIS;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		add_file(&sum, fs_path("%s/%s", run_path, names[i]));
	add_captures(&sum, run_path);
	snprintf(buf, INDEX_STAMP_MAX, "%016llx", (unsigned long long)sum);
	return buf;
}

/* --- existing entries: runs below the folder, and rows of the index --- */

struct entry {
	char *path; /* below the folder; "." is the folder itself */
	char stamp[INDEX_STAMP_MAX];
};

struct entries {
	const char *dir;
	struct entry *all;
	size_t count;
	mode_t mode; /* of an index of these runs */
};

static struct entry *new_entry(struct entries *list, const char *path)
{
	struct entry *entry;

	list->all = grow_or_abort(list->all, list->count, sizeof(*list->all));
	entry = &list->all[list->count++];
	*entry = (struct entry){.path = fs_path("%s", path)};
	return entry;
}

static int found_run(void *arg, const char *path, struct err *e)
{
	struct entries *list = arg;
	size_t skip = strlen(list->dir);

	(void)e;
	list->mode &= run_mode_above(path, list->dir);
	index_stamp(path, new_entry(list, path[skip] ? path + skip + 1 : ".")->stamp);
	return 0;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->path, ((const struct entry *)b)->path);
}

static void sort_entries(struct entries *list)
{
	if (list->count)
		qsort(list->all, list->count, sizeof(*list->all), by_path);
}

static void free_entries(struct entries *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->all[i].path);
	free(list->all);
}

static int find_entries(struct entries *list, const char *dir, struct err *e)
{
	int rc;

	*list = (struct entries){.dir = dir, .mode = 0666};
	rc = find_runs(dir, found_run, list, e);
	sort_entries(list);
	return rc;
}

static int read_rows(struct index *ix, struct entries *rows, struct err *e)
{
	sqlite3_stmt *s = index_sql(ix, INDEX_STAMPS, "");
	int rc;

	*rows = (struct entries){0};
	while ((rc = index_sql_next(ix, s, e)) > 0) {
		struct entry *entry = new_entry(rows, index_sql_text(s, 0));

		snprintf(entry->stamp, sizeof(entry->stamp), "%s", index_sql_text(s, 1));
	}
	sort_entries(rows);
	return rc;
}

/* How many of the rows are of no run any longer. */
static size_t count_gone(const struct entries *found, const struct entries *rows)
{
	size_t count = 0, i = 0;

	for (size_t k = 0; k < rows->count; k++) {
		while (i < found->count && strcmp(found->all[i].path, rows->all[k].path) < 0)
			i++;
		count += i == found->count || strcmp(found->all[i].path, rows->all[k].path) != 0;
	}
	return count;
}

static bool is_same(const struct entries *a, const struct entries *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->all[i].path, b->all[i].path) != 0 || strcmp(a->all[i].stamp, b->all[i].stamp) != 0)
			return false;
	return true;
}

static int count_runs(struct index *ix, const struct entries *found, struct index_changes *changes, struct err *e)
{
	sqlite3_stmt *s = index_sql(ix, INDEX_COUNT_UNREADABLE, "");
	int rc = index_sql_next(ix, s, e);

	changes->unreadable = rc > 0 ? (size_t)sqlite3_column_int64(s, 0) : 0;
	changes->runs = found->count - changes->unreadable;
	sqlite3_reset(s);
	return rc < 0 ? rc : 0;
}

/* 0: no run is new, changed or gone; -ESTALE, with the number of those that are gone; or why the index cannot be used. */
static int open_if_current(struct index *ix, const struct entries *found, size_t *removed, struct err *e)
{
	struct entries rows = {0};
	int rc = index_file_open(ix, found->dir, e);

	if (rc)
		return rc;
	rc = read_rows(ix, &rows, e) ?: is_same(found, &rows) ? 0 : -ESTALE;
	*removed = rc == -ESTALE ? count_gone(found, &rows) : 0;
	free_entries(&rows);
	if (rc)
		index_file_close(ix);
	return rc;
}

int index_open_current(struct index *ix, const char *dir)
{
	char real[PATH_MAX];
	struct err ignored = ERR_INIT;
	struct entries found = {0};
	size_t removed;
	int rc = realpath(dir, real)
		     ? find_entries(&found, real, &ignored) ?: open_if_current(ix, &found, &removed, &ignored)
		     : -ESTALE;

	free_entries(&found);
	return rc ? -ESTALE : 0;
}

/* --- making it anew: 10000 runs take some 15 s, and nothing of an old index needs to be trusted --- */

static int read_run(struct index *ix, json_t *bases, const struct entries *found, const struct entry *entry,
		    struct err *e)
{
	char *full = !strcmp(entry->path, ".") ? fs_path("%s", found->dir) : fs_path("%s/%s", found->dir, entry->path);
	int rc = index_run_add(ix, bases, full, entry->path, entry->stamp, e);

	free(full);
	return rc;
}

static int read_all(struct index *ix, const struct entries *found, struct err *e)
{
	json_t *bases = json_object();
	int rc = 0;

	for (size_t i = 0; i < found->count && !rc; i++)
		rc = read_run(ix, bases, found, &found->all[i], e);
	json_decref(bases);
	return rc;
}

static int write_index(const struct entries *found, struct index_changes *changes, struct err *e)
{
	struct index_writer w;
	int rc = index_file_begin(&w, found->dir, found->mode, e);

	if (rc)
		return rc;
	changes->read = found->count;
	rc = read_all(&w.index, found, e) ?: count_runs(&w.index, found, changes, e);
	if (!rc)
		return index_file_commit(&w, e);
	index_file_abandon(&w);
	return rc;
}

/* What was found before somebody else wrote the index is outdated. */
static int find_again(struct entries *found, struct err *e)
{
	const char *dir = found->dir;

	free_entries(found);
	return find_entries(found, dir, e);
}

static int lock_and_write(struct entries *found, struct index_changes *changes, struct err *e)
{
	int lock, rc = trust_addition(found->dir, "write an index there", e) ?: index_file_lock(found->dir, &lock, e);

	if (rc < 0)
		return rc;
	rc = (rc ? find_again(found, e) : 0) ?: write_index(found, changes, e);
	close(lock);
	return rc;
}

/* The one that is there is of no use if a run has changed, or if it is damaged, which only counting may show. An index
 * that cannot be one, such as a symbolic link, is reported. */
static int use_existing(const struct entries *found, struct index_changes *changes, struct err *e)
{
	struct index ix;
	int rc = open_if_current(&ix, found, &changes->removed, e);

	if (!rc) {
		rc = count_runs(&ix, found, changes, e);
		index_file_close(&ix);
	}
	changes->replaced = rc == -EBADMSG;
	if (changes->replaced)
		err_clear(e);
	return rc;
}

static int update_found(struct entries *found, bool anew, struct index_changes *changes, struct err *e)
{
	const int rc = anew ? -ESTALE : use_existing(found, changes, e);

	return !rc || e->status ? rc : lock_and_write(found, changes, e);
}

int index_update(const char *dir, bool anew, struct index_changes *changes, struct err *e)
{
	char *real = realpath(dir, NULL);
	struct entries found = {0};
	int rc;

	*changes = (struct index_changes){0};
	if (!real || !fs_is_directory(real)) {
		free(real);
		return err_set(e, -ENOTDIR, STATUS_USAGE, dir, "index", "there is no directory of this name");
	}
	rc = find_entries(&found, real, e);
	if (!rc && !found.count && index_file_is_missing(real))
		rc = err_set(e, -ENOENT, STATUS_USAGE, dir, "index",
			     "there is no run directory in it, three levels deep");
	rc = rc ?: update_found(&found, anew, changes, e);
	free_entries(&found);
	free(real);
	return rc;
}
