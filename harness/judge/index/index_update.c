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
#include "common/json.h"
#include "common/or_abort.h"
#include "common/trust.h"
#include "files/rundir/find.h"
#include "files/rundir/flows.h"
#include "files/rundir/run_mode.h"
#include "files/rundir/sealed.h"
#include "files/rundir/writer.h"
#include "judge/analysis/summary_json.h"
#include "judge/index/index_file.h"
#include "judge/index/index_sql.h"

/* --- a run in the index --- */

/* A state in which more than one of this many keys differ becomes a base of its own. */
#define MOST_DIFFERENT 3

/* --- points --- */

static int index_add_number(struct index *ix, int64_t run, int64_t point, const char *of, const char *key,
			    struct number n, struct err *e)
{
	if (!number_is_known(n))
		return 0;
	return index_sql_do(ix, e, INDEX_ADD_METRIC, "iittf", run, point, of, key, number_value(n));
}

static int index_add_metric(struct index *ix, int64_t run, int64_t point, const struct summary_metric *m, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < STATISTICS; i++)
		rc = index_add_number(ix, run, point, m->name, statistics[i].key, m->values[i], e);
	return rc ?: index_add_number(ix, run, point, m->name, CLOCK_ERROR_KEY, m->clock_error, e);
}

static int index_add_block(struct index *ix, int64_t run, int64_t point, const struct summary_block *b, struct err *e)
{
	char of[FLOWS_KEY_MAX];
	int rc = 0;

	flows_key(b->flow, b->of->name, of, sizeof(of));
	for (unsigned i = 0; !rc && i < BLOCK_NUMBERS; i++) {
		const struct block_statistic *row = block_number_row(b->of, i);

		if (row)
			rc = index_add_number(ix, run, point, of, row->key, b->numbers[i], e);
	}
	return rc;
}

/* Add a point's series and summary blocks. */
static int add_metrics(struct index *ix, int64_t run, const struct summary_point *p, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < p->results.metric_count; i++)
		rc = index_add_metric(ix, run, p->id, &p->results.metrics[i], e);
	for (size_t i = 0; !rc && i < p->results.block_count; i++)
		rc = index_add_block(ix, run, p->id, &p->results.blocks[i], e);
	return rc;
}

/* The id of a set of settings; equal sets are stored once. */
static int setting_set(struct index *ix, const json_t *params, int64_t *set, struct err *e)
{
	char *text = json_dumps(params, JSON_COMPACT | JSON_SORT_KEYS);
	sqlite3_stmt *s = index_sql(ix, INDEX_FIND_SETTING_SET, "t", text ? text : "{}");
	int rc = index_sql_next(ix, s, e);

	if (rc > 0) {
		*set = sqlite3_column_int64(s, 0);
		rc = 0;
	} else if (!rc) {
		rc = index_sql_do(ix, e, INDEX_ADD_SETTING_SET, "t", text ? text : "{}");
		*set = sqlite3_last_insert_rowid(ix->db);
		rc = rc ?: index_sql_add_each(ix, INDEX_ADD_SETTING, *set, params, e);
	}
	sqlite3_reset(s);
	free(text);
	return rc;
}

static const char *first_reason(const json_t *reasons)
{
	return json_string_value(json_array_get(reasons, 0));
}

static int index_add_point(struct index *ix, int64_t run, const struct summary_point *p, struct err *e)
{
	const struct summary_metric *first = p->results.metric_count ? &p->results.metrics[0] : NULL;
	json_t *valid = json_boolean(p->valid), *p50 = first ? number_encode(first->values[STATISTIC_P50]) : NULL;
	int64_t set = 0;
	int rc = setting_set(ix, p->params, &set, e);

	rc = rc
		 ?: index_sql_do(ix, e, INDEX_ADD_POINT, "iiitjttj", run, (int64_t)p->id, set, p->outcome_text, valid,
				 first_reason(p->reasons), first ? first->name : NULL, p50);
	json_decref(valid);
	json_decref(p50);
	return rc ?: add_metrics(ix, run, p, e);
}

static int add_points(struct index *ix, int64_t run, const struct run *r, struct err *e)
{
	struct summary *s = summary_decode(r->summary);
	int rc = 0;

	for (size_t i = 0; !rc && i < s->point_count; i++)
		rc = index_add_point(ix, run, &s->points[i], e);
	summary_free(s);
	return rc;
}

/* --- states of hosts --- */

/*
 * All runs on one machine have nearly the same state, so the first one of a host is stored
 * completely, as a base, and others as their differences from it.
 */

/* The differences from the base; null: the state does not have the key. */
static json_t *difference(const json_t *base, const json_t *keys)
{
	json_t *different = json_object(), *value;
	const char *key;

	json_object_foreach ((json_t *)keys, key, value) {
		const json_t *before = json_object_get(base, key);

		if (!before || !json_equal(before, value))
			json_object_set(different, key, value);
	}
	json_object_foreach ((json_t *)base, key, value)
		if (!json_object_get(keys, key))
			json_object_set_new(different, key, json_null());
	return different;
}

static int add_base(struct index *ix, json_t *bases, const char *host, const json_t *keys, int64_t *id, struct err *e)
{
	int rc = index_sql_do(ix, e, INDEX_ADD_STATE, "tj", host, (const json_t *)NULL);

	*id = sqlite3_last_insert_rowid(ix->db);
	json_object_set_new(bases, host, json_pack("{s:I, s:O}", "id", (json_int_t)*id, "keys", (json_t *)keys));
	return rc ?: index_sql_add_each(ix, INDEX_ADD_STATE_VALUE, *id, keys, e);
}

/* Add a state that has a base. `*id` is the base's own if there are no differences. */
static int add_beside(struct index *ix, json_t *bases, const char *host, const json_t *keys, int64_t *id, struct err *e)
{
	const json_t *base = json_object_get(bases, host);
	json_t *different = difference(json_object_get(base, "keys"), keys);
	size_t count = json_object_size(different);
	int rc = 0;

	*id = json_integer_value(json_object_get(base, "id"));
	if (count * MOST_DIFFERENT > json_object_size(keys)) {
		rc = add_base(ix, bases, host, keys, id, e);
	} else if (count) {
		rc = index_sql_do(ix, e, INDEX_ADD_STATE, "ti", host, *id);
		*id = sqlite3_last_insert_rowid(ix->db);
		rc = rc ?: index_sql_add_each(ix, INDEX_ADD_STATE_VALUE, *id, different, e);
	}
	json_decref(different);
	return rc;
}

/* Add the state of a host before a run: "keys" of its state.json. */
static int index_state_add(struct index *ix, json_t *bases, int64_t run, const char *host, const json_t *keys,
			   struct err *e)
{
	int64_t id = 0;
	int rc = json_object_get(bases, host) ? add_beside(ix, bases, host, keys, &id, e)
					      : add_base(ix, bases, host, keys, &id, e);

	return rc ?: index_sql_do(ix, e, INDEX_ADD_RUN_STATE, "iti", run, host, id);
}

/* --- the run --- */

/* Store the documents that comparisons need unchanged. */
static int add_documents(struct index *ix, int64_t run, const struct run *r, struct err *e)
{
	json_t *record = run_record_to_json(&r->record);
	json_t *const documents[] = {record, json_object_get(r->resolved, "defaults"), r->summary};
	char *texts[3];
	int rc;

	for (size_t i = 0; i < 3; i++)
		texts[i] = documents[i] ? json_dumps(documents[i], JSON_COMPACT) : NULL;
	rc = index_sql_do(ix, e, INDEX_ADD_DOCUMENTS, "ittt", run, texts[0], texts[1], texts[2]);
	for (size_t i = 0; i < 3; i++)
		free(texts[i]);
	json_decref(record);
	return rc;
}

static int add_states(struct index *ix, json_t *bases, int64_t run, const struct sealed_hosts *hosts, struct err *e)
{
	const char *host;
	json_t *state;
	int rc = 0;

	json_object_foreach (hosts->states, host, state) {
		if (!rc && json_is_object(json_object_get(state, "keys")))
			rc = index_state_add(ix, bases, run, host, json_object_get(state, "keys"), e);
	}
	return rc;
}

static int add_row(struct index *ix, const struct run *r, const char *path, const char *stamp,
		   const struct sealed_hosts *hosts, const char *not_comparable, struct err *e)
{
	const struct run_record *d = &r->record;
	char *began = rundir_began(d);
	const int rc =
	    index_sql_do(ix, e, INDEX_ADD_RUN, "ttjtttiittittttttjt", path, stamp, json_object_get(r->resolved, "name"),
			 d->title, d->variant, d->status, (int64_t)r->sealed, (int64_t)d->valid,
			 first_reason(d->reasons), began, d->t0.realtime_ns, d->ended_utc, d->version, d->commit,
			 hosts->hosts, hosts->boot, hosts->kernel, json_object_get(d->points, "total"), not_comparable);

	free(began);
	return rc;
}

static int add_opened(struct index *ix, json_t *bases, const struct run *r, const char *path, const char *stamp,
		      struct err *e)
{
	struct sealed_hosts hosts;
	struct err why = ERR_INIT;
	int64_t run;
	int rc;

	sealed_hosts_read(r, &hosts, &why);
	sealed_check(r, &why);
	rc = add_row(ix, r, path, stamp, &hosts, why.status ? why.text : NULL, e);
	run = sqlite3_last_insert_rowid(ix->db);
	rc = rc ?: add_documents(ix, run, r, e) ?: add_points(ix, run, r, e) ?: add_states(ix, bases, run, &hosts, e);
	sealed_hosts_free(&hosts);
	return rc;
}

/*
 * Add the run at `full`, whose path in the index is `path`. A run that cannot be read gets a row
 * among the unreadable ones instead. `bases` are the states known so far that others are stored as
 * differences from: host -> {"id", "keys"}; an empty object to begin with. `stamp` was taken before
 * reading, so that anything that changes meanwhile is read again the next time.
 */
static int index_run_add(struct index *ix, json_t *bases, const char *full, const char *path, const char *stamp,
			 struct err *e)
{
	struct err why = ERR_INIT;
	struct run r;
	int rc;

	if (run_open(full, &r, &why))
		return index_sql_do(ix, e, INDEX_ADD_UNREADABLE, "ttt", path, stamp, why.text);
	rc = add_opened(ix, bases, &r, path, stamp, e);
	run_close(&r);
	return rc;
}

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
