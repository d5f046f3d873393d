#include "study/bundle/bundle_check.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "files/rundir/reader.h"
#include "judge/analysis/verify.h"
#include "judge/claims/claims.h"
#include "report/report.h"
#include "study/kinds.h"
#include "study/study_record.h"

#define TEXT_MOST (64 << 20)

bool bundle_is_of_this(const struct bundle *b)
{
	return verify_is_of_this(b->version, b->commit);
}

/* --- bundle.json --- */

/* kblat 1.0.0 did not hide in bundle.json what it hid in the runs. */
static bool hides_in_runs_only(const struct bundle *b)
{
	return b->masked && !strcmp(b->version, "1.0.0");
}

static void check_run_entry(const struct bundle_check *c, size_t i)
{
	json_t *said, *is = run_record_to_json(&c->run[i].record);
	struct bundle_run found = bundle_run_of(c->b->run[i].path, is);

	if (hides_in_runs_only(c->b)) {
		json_decref(found.argv);
		found.argv = json_incref(c->b->run[i].argv);
	}
	json_decref(is);
	said = bundle_run_to_json(&c->b->run[i]);
	is = bundle_run_to_json(&found);
	if (!json_equal(said, is))
		complain(c->differences, "what it says of %s is not what its run.json says", c->b->run[i].path);
	json_decref(is);
	json_decref(said);
	bundle_run_free(&found);
}

static void check_build_ids(const struct bundle_check *c)
{
	json_t *ids = json_object();

	for (size_t i = 0; i < c->b->runs; i++)
		bundle_add_build_ids(ids, &c->run[i]);
	if (!json_equal(ids, c->b->build_ids))
		complain(c->differences, "its 'build_ids' are not those in the states of the machines");
	json_decref(ids);
}

static void check_flags(const struct bundle_check *c)
{
	bool columns = false, states = false;

	for (size_t i = 0; i < c->b->files; i++) {
		columns |= bundle_is_column(c->b->file[i].name);
		states |= bundle_is_state(c->b->file[i].name);
	}
	if (columns && !c->b->has_columns)
		complain(c->differences, "it says that there are no columns, but there are");
	if (states && !c->b->has_states)
		complain(c->differences, "it says that there are no states, but there are");
	if (!c->is_signed && *c->b->signed_utc)
		complain(c->differences, "it has the time of a signature, but no signature");
}

/* --- the study --- */

static bool lists_run(const struct bundle *b, const char *path)
{
	const char *slash = strrchr(path, '/');

	for (size_t i = 0; i < b->runs; i++)
		if (!strcmp(b->run[i].path, slash ? slash + 1 : path))
			return true;
	return false;
}

static void check_record(const struct bundle_check *c, const struct study *s)
{
	if (!hides_in_runs_only(c->b) &&
	    (strcmp(c->b->title, *s->title ? s->title : s->name) != 0 || !json_equal(c->b->argv, s->argv)))
		complain(c->differences, "its title or its command is not that of study.json");
	/* One that went on while it was bundled has runs that came too late. */
	for (size_t i = 0; i < s->count && s->status != STUDY_RUNNING; i++)
		if (s->cell[i].run && !lists_run(c->b, s->cell[i].run))
			complain(c->differences, "the study's run %s is not in it", s->cell[i].run);
}

static void check_study(const struct bundle_check *c)
{
	char *dir = fs_path("%s/study", c->folder);
	const struct study_kind *kind = study_kind_at(dir);
	struct study s = {.kind = kind, .lock = -1};
	struct err e = ERR_INIT;

	if (!kind || strcmp(kind->name, c->b->kind) != 0)
		complain(c->differences, "it has no study of the kind '%.40s'", c->b->kind);
	else if (study_record_open(&s, dir, &e))
		complain(c->differences, "%s", e.text);
	else
		check_record(c, &s);
	study_free(&s);
	free(dir);
}

static void check_title(const struct bundle_check *c)
{
	char *title = bundle_title_of_runs(c->b);

	if (strcmp(title, c->b->title) != 0 || c->b->argv)
		complain(c->differences, "its title or its command is not that of its runs");
	free(title);
}

void bundle_check_index(const struct bundle_check *c)
{
	for (size_t i = 0; i < c->b->runs; i++)
		check_run_entry(c, i);
	check_build_ids(c);
	check_flags(c);
	if (*c->b->kind)
		check_study(c);
	else
		check_title(c);
}

/* --- files for people --- */

static void write_artifact(const struct bundle *b, const struct claim_verdicts *v, FILE *out)
{
	artifact_write(b, v, out);
}

static void write_tsv(const struct bundle *b, const struct claim_verdicts *v, FILE *out)
{
	(void)b;
	claims_tsv(v, out);
}

static const struct {
	const char *name;
	void (*write)(const struct bundle *b, const struct claim_verdicts *v, FILE *out);
} readable[] = {{"ARTIFACT.md", write_artifact}, {"claims.tsv", write_tsv}};

#define READABLE (sizeof(readable) / sizeof(readable[0]))

/* Another kblat may have written other words. */
static void compare_readable(const struct bundle_check *c, const char *name, const char *path, const char *text,
			     size_t size)
{
	struct err ignored = ERR_INIT;
	char *found = NULL;
	size_t length = 0;

	if (bundle_is_of_this(c->b) &&
	    (fs_read(path, TEXT_MOST, &found, &length, &ignored) || length != size || memcmp(found, text, size) != 0))
		complain(c->differences, "%s: it is not what follows from the runs", name);
	free(found);
}

static int make_readable(const struct bundle_check *c, const struct claim_verdicts *v, size_t i, struct err *e)
{
	char *path = fs_path("%s/%s", c->folder, readable[i].name), *text = NULL;
	size_t size;
	FILE *out = or_abort(open_memstream(&text, &size));
	int rc;

	readable[i].write(c->b, v, out);
	fclose(out);
	compare_readable(c, readable[i].name, path, text, size);
	rc = fs_write(path, text, size, e);
	free(text);
	free(path);
	return rc;
}

/* Without gnuplot there is a page without figures. */
static int make_page_again(const struct run *run, struct err *e)
{
	struct err own = ERR_INIT;
	char *html = NULL;
	int rc = report_make(run, 1, &html, &own);

	free(html);
	return rc && own.status != STATUS_IMPOSSIBLE ? err_set(e, rc, own.status, NULL, NULL, "%s", own.text) : 0;
}

static bool brings_page(const struct bundle *b, const char *run)
{
	char *name = fs_path("pages/%s.html", run);
	bool found = false;

	for (size_t i = 0; i < b->files && !found; i++)
		found = !strcmp(b->file[i].name, name);
	free(name);
	return found;
}

int bundle_make_again(const struct bundle_check *c, const struct claim_verdicts *v, const bool *is_sound, struct err *e)
{
	char *pages = fs_path("%s/pages", c->folder);
	int rc = fs_remove_tree(pages, e);

	for (size_t i = 0; i < READABLE && !rc; i++)
		rc = make_readable(c, v, i, e);
	for (size_t i = 0; i < c->b->runs && !rc && is_sound; i++)
		if (is_sound[i] && brings_page(c->b, c->b->run[i].path))
			rc = make_page_again(&c->run[i], e);
	free(pages);
	return rc;
}

/* --- what nothing in the bundle tells --- */

struct source {
	const char *files, *what;
};

static const struct source sources[] = {
    {"*.npy", "the time stamps and events in the columns"},
    {"runs/*/counters.json", "counters"},
    {"runs/*/point.json", "what each point was granted"},
    {"runs/*/points/*/trace-*.json", "what was traced"},
    {"runs/*/points/*.bin", "stored samples"},
    {"runs/*/points/*.csv", "stored samples"},
    {"runs/*/run.json", "who measured when, where and with which command and clock"},
    {"runs/*/resolved.json", "settings and claims"},
    {"runs/*/spec.yaml", "specs"},
    {"runs/*/observatory.json", "configurations of Observatory"},
    {"runs/*/state/*", "the states of the machines"},
    {"runs/*/output/*", "what programs printed"},
    {"runs/*/log.jsonl", "logs"},
    {"runs/*/README.txt", "descriptions"},
    {"study/*", "the study's record"},
};

static bool has_files(const struct bundle *b, const char *pattern)
{
	for (size_t i = 0; i < b->files; i++)
		if (!fnmatch(pattern, b->file[i].name, 0))
			return true;
	return false;
}

/* What is believed without columns. */
static const struct source numbers[] = {
    {"runs/*/summary.json", "the numbers of the summaries"},
    {"runs/*/summary.csv", "the same numbers"},
    {"runs/*/data.json", "the histograms"},
};

static const struct source maker = {BUNDLE_INDEX,
				    "who made the bundle, with which packages, when it was signed, what it hides"};

/* The count; `list` has room for all. */
static size_t list_unchecked(const struct bundle *b, const struct source *list[])
{
	size_t count = 0;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]) && !b->has_columns; i++)
		list[count++] = &numbers[i];
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		if (has_files(b, sources[i].files))
			list[count++] = &sources[i];
	list[count++] = &maker;
	return count;
}

#define UNCHECKED_MOST (sizeof(numbers) / sizeof(numbers[0]) + sizeof(sources) / sizeof(sources[0]) + 1)

json_t *bundle_unchecked(const struct bundle *b)
{
	const struct source *list[UNCHECKED_MOST];
	const size_t count = list_unchecked(b, list);
	json_t *all = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(all, json_pack("{s:s, s:s}", "files", list[i]->files, "what", list[i]->what));
	return all;
}

json_t *bundle_made_again(const struct bundle *b)
{
	json_t *list = json_array();

	for (size_t i = 0; i < READABLE; i++)
		if (has_files(b, readable[i].name))
			json_array_append_new(list, json_string(readable[i].name));
	if (has_files(b, "pages/*"))
		json_array_append_new(list, json_string("pages/*"));
	return list;
}

char *bundle_limits_text(const struct bundle *b, bool is_vouched_for)
{
	const struct source *list[UNCHECKED_MOST];
	const size_t count = list_unchecked(b, list);
	json_t *again = bundle_made_again(b), *one;
	char *text = NULL;
	size_t size, i;
	FILE *out = or_abort(open_memstream(&text, &size));

	fprintf(out, "not checked, as nothing else in the bundle tells%s:",
		is_vouched_for ? " (the signature covers it)" : "");
	for (i = 0; i < count; i++)
		fprintf(out, "\n  %-27s %s", list[i]->files, list[i]->what);
	if (!bundle_is_of_this(b))
		fprintf(out, "\n  %-27s %s", "sentences",
			"more than their numbers, and which statistics there are: another kblat made it");
	fprintf(out, "\nmade again, not believed:");
	json_array_foreach (again, i, one) {
		fprintf(out, "%s %s", i ? "," : "", json_string_value(one));
	}
	json_decref(again);
	fclose(out);
	return or_abort(text);
}
