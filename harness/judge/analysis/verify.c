#include "judge/analysis/verify.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "common/version.h"
#include "files/rundir/flows.h"
#include "files/rundir/rep.h"
#include "files/rundir/schema.h"
#include "judge/analysis/param.h"
#include "judge/analysis/reduce.h"
#include "judge/analysis/summary_build.h"
#include "judge/analysis/summary_json.h"

/* --- are derived files as computed anew? --- */

/* Words for people, or arrays of them. */
static bool is_prose(const char *key)
{
	static const char *const keys[] = {"why", "reasons", "warnings", "label", "measured"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

/* "4-6" has a hyphen, " -6" a sign. */
static bool is_negative(const char *text, const char *at)
{
	return at > text && at[-1] == '-' && (at - 1 == text || !isalnum((unsigned char)at[-2]));
}

/* The next number of `text` from `*at` on; false: there is none. */
static bool next_number(const char *text, const char **at, long double *number)
{
	const char *from = *at + strcspn(*at, "0123456789");
	char *end;

	if (!*from)
		return false;
	*number = strtold(from, &end);
	if (is_negative(text, from))
		*number = -*number;
	*at = end;
	return true;
}

static bool have_same_numbers(const char *a, const char *b)
{
	const char *at_a = a, *at_b = b;
	long double of_a = 0, of_b = 0;
	bool more;

	do {
		more = next_number(a, &at_a, &of_a);
		if (more != next_number(b, &at_b, &of_b) || of_a != of_b)
			return false;
	} while (more);
	return true;
}

static bool prose_equal(const json_t *a, const json_t *b)
{
	if (json_is_string(a) && json_is_string(b))
		return have_same_numbers(json_string_value(a), json_string_value(b));
	if (!json_is_array(a) || !json_is_array(b) || json_array_size(a) != json_array_size(b))
		return json_equal(a, b);
	for (size_t i = 0; i < json_array_size(a); i++)
		if (!prose_equal(json_array_get(a, i), json_array_get(b, i)))
			return false;
	return true;
}

static bool arrays_equal(const json_t *a, const json_t *b)
{
	if (json_array_size(a) != json_array_size(b))
		return false;
	for (size_t i = 0; i < json_array_size(a); i++)
		if (!data_equal(json_array_get(a, i), json_array_get(b, i)))
			return false;
	return true;
}

static bool objects_equal(const json_t *a, const json_t *b)
{
	const char *key;
	json_t *value;

	if (json_object_size(a) != json_object_size(b))
		return false;
	json_object_foreach ((json_t *)a, key, value)
		if (!(is_prose(key) ? prose_equal : data_equal)(value, json_object_get(b, key)))
			return false;
	return true;
}

bool data_equal(const json_t *a, const json_t *b)
{
	if (json_is_array(a) && json_is_array(b))
		return arrays_equal(a, b);
	if (json_is_object(a) && json_is_object(b))
		return objects_equal(a, b);
	return json_equal(a, b);
}

/* --- what is checked --- */

struct check {
	const struct run *run;
	bool is_of_this; /* this very kblat made it: it would write every word, and each number that it knows */
	struct complaints complaints;
};

/* The text of an error without the path of the run directory, which the reader knows. */
static void verify_complain_err(struct check *c, const struct err *e)
{
	size_t length = strlen(c->run->path);
	bool inside = !strncmp(e->text, c->run->path, length) && e->text[length] == '/';

	complain(&c->complaints, "%s", e->text + (inside ? length + 1 : 0));
}

bool verify_is_of_this(const char *version, const char *commit)
{
	return !strcmp(version, kblat_version) && !strcmp(commit, kblat_commit);
}

/* `equal`: what must be the same of what another kblat has made. */
static bool is_as_made(const struct check *c, bool (*equal)(const json_t *a, const json_t *b), const json_t *found,
		       const json_t *made)
{
	return c->is_of_this ? json_equal(found, made) : equal(found, made);
}

/* --- files one by one --- */

static int read_any_json(const char *path, const char *name, struct err *e)
{
	int document = schema_document(name);
	json_t *value = document < 0 ? json_read(path, e) : schema_read((enum document)document, path, e);

	json_decref(value);
	return value ? 0 : -EINVAL;
}

static int read_column(const char *path, struct err *e)
{
	struct npy column;
	int rc = npy_open(path, &column, e);

	return npy_close(&column, e) ?: rc;
}

static void verify_file(struct check *c, const char *name)
{
	char *path = fs_path("%s/%s", c->run->path, name);
	struct err e = ERR_INIT;
	int rc = 0;

	if (text_ends_in(name, ".json"))
		rc = read_any_json(path, name, &e);
	else if (text_ends_in(name, ".npy"))
		rc = read_column(path, &e);
	if (rc)
		verify_complain_err(c, &e);
	free(path);
}

static int verify_files(struct check *c, struct verified *out, struct err *e)
{
	char **files;
	size_t count;
	int rc = fs_files(c->run->path, &files, &count, e);

	if (rc)
		return rc;
	for (size_t i = 0; i < count; i++) {
		if (!strncmp(files[i], "derived/", 8) || !strcmp(files[i], "manifest-sha256.txt"))
			continue;
		out->files++;
		verify_file(c, files[i]);
	}
	fs_files_free(files);
	return 0;
}

/* --- derived files --- */

/* Statistics and summary blocks, of which later versions may have more than the one that made the run. */
static bool may_be_newer(const char *key)
{
	const char *bare = flows_bare_key(key);
	bool found = statistic_find(key) || block_find(bare);

	for (size_t i = 0; !found && blocks[i]; i++)
		found = block_statistic_find(blocks[i], key) != NULL;
	return found;
}

/* Remove from the recomputed `value` what the version that wrote `found` did not have. Settings are kept. */
static void drop_newer(json_t *value, const json_t *found)
{
	const char *key;
	json_t *inner;
	void *next;
	size_t i;

	json_array_foreach (value, i, inner)
		drop_newer(inner, json_array_get(found, i));
	json_object_foreach_safe(value, next, key, inner)
	{
		const json_t *there = json_object_get(found, key);

		if (!there && may_be_newer(key))
			json_object_del(value, key);
		else if (strcmp(key, "params") != 0)
			drop_newer(inner, there);
	}
}

/* Does a file contain this value? `value` is consumed; NULL: it could not be made, for the reason in `e`. */
static void verify_json(struct check *c, const char *name, json_t *value, const char *complaint, const struct err *e)
{
	char *path = fs_path("%s/%s", c->run->path, name);
	struct err why = ERR_INIT;
	json_t *found = value ? json_read(path, &why) : NULL;

	if (!value)
		verify_complain_err(c, e);
	else if (!found)
		verify_complain_err(c, &why);
	else if (!is_as_made(c, data_equal, found, value))
		complain(&c->complaints, "%s: %s", name, complaint);
	json_decref(found);
	json_decref(value);
	free(path);
}

/* Takes `value`, and returns it without what the file does not have. */
static json_t *known_then(const struct check *c, const char *name, json_t *value)
{
	char *path = fs_path("%s/%s", c->run->path, name);
	struct err ignored = ERR_INIT;
	json_t *found = c->is_of_this ? NULL : json_read(path, &ignored);

	if (found)
		drop_newer(value, found);
	json_decref(found);
	free(path);
	return value;
}

/* --- repetitions --- */

/* Returned by messages_of() for a repetition that may end for other reasons, so that only its counters tell. */
#define MESSAGES_COUNTED -2

/* A step of a pacer without a message is an entry, too. If both sides send independently, the one
 * that got further counts. */
static json_int_t messages_counted(const struct layout_flow *f, const struct rep *r)
{
	const json_int_t source = rep_counter(r, "source", "posted") + rep_counter(r, "source", "missed") +
				  rep_counter(r, "source", "unsent");
	const json_int_t sink = f->counts_loss ? rep_counter(r, "sink", "posted") : 0;

	return source > sink ? source : sink;
}

static void verify_entries(struct check *c, const struct layout_flow *f, const char *dir, unsigned number,
			   json_int_t messages)
{
	struct err e = ERR_INIT;
	json_int_t entries;
	struct rep r;

	if (rep_open(c->run->path, f, number, &r, &e))
		return;
	if (messages == MESSAGES_COUNTED)
		messages = messages_counted(f, &r);
	entries = messages > 0 ? (messages - 1) / f->traits.block + 1 : messages;
	if (r.is_whole && messages >= 0 && r.columns[0].count != (size_t)entries)
		complain(&c->complaints, "%s/%s.npy: it has %zu entries for %" JSON_INTEGER_FORMAT " messages", dir,
			 f->columns[0], r.columns[0].count, messages);
	if (rep_close(&r, &e))
		verify_complain_err(c, &e);
}

/* Does the end of one flow end the others? */
static bool ends_with_first(const struct layout *l)
{
	return param_is(l->params, "until", "first");
}

/* For a completed point, the number of messages of a repetition of a flow, or MESSAGES_COUNTED; -1
 * otherwise, or if it is not given. */
static json_int_t messages_of(const struct layout *l, const struct layout_flow *f, const struct summary_point *p)
{
	const json_t *messages = param_value(f->params, "messages");

	if (p->outcome != POINT_COMPLETED || !json_is_integer(messages))
		return -1;
	if (param_integer(f->params, "duration_ns") || ends_with_first(l))
		return MESSAGES_COUNTED;
	return json_integer_value(messages);
}

/* In a point that failed, a file may be missing, because computing or writing it may be what failed. */
static bool was_made(const struct check *c, const char *name, const struct summary_point *p)
{
	char *path = fs_path("%s/%s", c->run->path, name);
	bool there = p->outcome == POINT_COMPLETED || !fs_is_missing(path);

	free(path);
	return there;
}

static void verify_rep(struct check *c, const struct layout *l, const struct layout_flow *f,
		       const struct summary_point *p, unsigned number)
{
	char *path = layout_rep_dir(c->run->path, f->point, number, f->name);
	const char *dir = path + strlen(c->run->path) + 1;
	char *name = fs_path("%s/data.json", dir);
	struct err e = ERR_INIT;

	if (was_made(c, name, p))
		verify_json(c, name, known_then(c, name, reduce_rep(c->run->path, f, number, &e)),
			    "it differs from what the columns give", &e);
	verify_entries(c, f, dir, number, messages_of(l, f, p));
	free(name);
	free(path);
}

/* --- points --- */

static void verify_reps(struct check *c, const struct layout *l, const struct summary_point *p)
{
	unsigned *reps = NULL;
	size_t count = 0;
	struct err e = ERR_INIT;

	if (rep_list(c->run->path, l->id, &reps, &count, &e))
		verify_complain_err(c, &e);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < l->flow_count; k++)
			verify_rep(c, l, &l->flows[k], p, reps[i]);
	free(reps);
}

/* `given`: what the summary follows from. */
static void verify_point(struct check *c, const struct layout *l, const struct summary_point *p, const char *given)
{
	char *name = fs_path("points/%04u/params.json", l->id);
	struct err e = ERR_INIT;

	if (was_made(c, name, p))
		verify_json(c, name, json_incref((json_t *)l->params), "it differs from resolved.json", &e);
	free(name);
	name = fs_path("points/%04u/summary.json", l->id);
	verify_json(c, name, summary_encode_point(p), given, &e);
	free(name);
}

static void verify_points(struct check *c, const struct summary *s, bool has_columns)
{
	const char *given =
	    has_columns ? "it differs from what the columns give" : "it differs from what summary.json gives";

	for (size_t i = 0; i < s->point_count; i++) {
		struct err e = ERR_INIT;
		struct layout l;

		if (s->points[i].outcome == POINT_NOT_MEASURED ||
		    layout_read(c->run->path, c->run->resolved, i, &l, &e))
			continue;
		verify_point(c, &l, &s->points[i], given);
		if (has_columns)
			verify_reps(c, &l, &s->points[i]);
		layout_free(&l);
	}
}

static void verify_csv(struct check *c, const struct summary *summary)
{
	char *path = fs_path("%s/summary.csv", c->run->path), *text = NULL, *found = NULL;
	size_t size = 0, found_size = 0;
	struct err e = ERR_INIT;
	FILE *out = or_abort(open_memstream(&text, &size));
	bool is_made = !summary_csv(summary, out);

	is_made = !fclose(out) && is_made;
	or_abort(is_made ? text : NULL);
	if (fs_read(path, size + 1, &found, &found_size, &e))
		verify_complain_err(c, &e);
	else if (found_size != size || memcmp(found, text, size))
		complain(&c->complaints, "summary.csv: it differs from what summary.json gives");
	free(found);
	free(text);
	free(path);
}

static void verify_more_files(struct check *c, const struct verify_more *more, const json_t *summary)
{
	struct run run = *c->run;

	run.summary = (json_t *)summary;
	for (; more && more->file; more++) {
		struct err e = ERR_INIT;

		if (more->applies(&run))
			verify_json(c, more->file, more->make(&run, &e), more->complaint, &e);
	}
}

/* The recomputed summary, without what the version that made the run did not have. */
static json_t *recomputed(const struct check *c, struct err *e)
{
	struct summary *s = summary_build(c->run->path, &c->run->record, c->run->resolved, e);
	json_t *document = s ? known_then(c, "summary.json", summary_encode(s)) : NULL;

	summary_free(s);
	return document;
}

/* --- what the run says of itself --- */

/* How many points ended in which way; "total" is all. */
static bool counts_outcomes(const json_t *said, const struct summary *s)
{
	const char *outcome;
	json_t *count;

	json_object_foreach ((json_t *)said, outcome, count) {
		size_t found = strcmp(outcome, "total") ? 0 : s->point_count;

		for (size_t i = 0; i < s->point_count; i++)
			found += s->points[i].outcome_text && !strcmp(s->points[i].outcome_text, outcome);
		if ((size_t)json_integer_value(count) != found)
			return false;
	}
	return true;
}

static void verify_record(struct check *c, const struct summary *s)
{
	const struct run_record *r = &c->run->record;
	const struct {
		const char *key, *said;
	} same[] = {{"name", r->name}, {"title", r->title}, {"variant", r->variant}};

	if (s->valid != r->valid)
		complain(&c->complaints, "run.json: 'valid' contradicts the columns and counters");
	if (!is_as_made(c, prose_equal, r->reasons, s->reasons) ||
	    !is_as_made(c, prose_equal, r->warnings, s->warnings))
		complain(&c->complaints, "run.json: 'reasons' or 'warnings' are not those of the points");
	if (!counts_outcomes(r->points, s))
		complain(&c->complaints, "run.json: 'points' are not as many as ended in that way");
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (strcmp(same[i].said, json_text(c->run->resolved, same[i].key)) != 0)
			complain(&c->complaints, "run.json: '%s' differs from resolved.json", same[i].key);
}

static void verify_derived(struct check *c, const struct verify_more *more, bool has_columns, struct verified *out)
{
	struct err e = ERR_INIT;
	json_t *document = has_columns ? recomputed(c, &e) : json_incref(c->run->summary);
	struct summary *summary;

	if (!document && !has_columns)
		err_set(&e, -ENOENT, STATUS_NO, "summary.json", NULL, "it is missing");
	verify_json(c, "summary.json", json_incref(document), "it differs from what the columns give", &e);
	if (!document)
		return;
	summary = summary_decode(document);
	verify_points(c, summary, has_columns);
	verify_csv(c, summary);
	verify_more_files(c, more, document);
	verify_record(c, summary);
	out->points = summary->point_count;
	summary_free(summary);
	json_decref(document);
}

static int verify_all(struct check *c, const struct verify_more *more, bool has_columns, struct verified *out,
		      struct err *e)
{
	int rc;

	*out = (struct verified){0};
	rc = verify_files(c, out, e);
	/* Unreadable files have been reported already. */
	if (!rc && !c->complaints.count)
		verify_derived(c, more, has_columns, out);
	return rc ? rc : c->complaints.count;
}

int verify_run(const struct run *run, const struct verify_more *more, void (*tell)(void *arg, const char *text),
	       void *arg, struct verified *out, struct err *e)
{
	struct check c = {.run = run, .complaints = {tell, arg, 0}};

	return verify_all(&c, more, true, out, e);
}

int verify_strictly(const struct run *run, const struct verify_more *more, bool has_columns,
		    void (*tell)(void *arg, const char *text), void *arg, struct verified *out, struct err *e)
{
	struct check c = {.run = run,
			  .complaints = {tell, arg, 0},
			  .is_of_this = verify_is_of_this(run->record.version, run->record.commit)};

	return verify_all(&c, more, has_columns, out, e);
}
