#include "study/bundle/reproduce.h"

#include <errno.h>
#include <fnmatch.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/sysroot.h"
#include "common/table_print.h"
#include "common/temporary.h"
#include "common/text.h"
#include "files/rundir/manifest.h"
#include "files/rundir/reader.h"
#include "files/state/capture.h"
#include "files/state/diff.h"
#include "files/state/load.h"
#include "judge/analysis/verify.h"
#include "judge/claims/claims.h"
#include "report/answer_page.h"
#include "report/escape.h"
#include "report/html.h"
#include "report/report.h"
#include "study/bundle/bundle.h"
#include "study/bundle/bundle_sign.h"
#include "study/bundle/bundle_tar.h"
#include "study/kinds.h"
#include "study/study_record.h"

/* --- a bundle against what is in it --- */

/*
 * What it says of itself is compared with what is in it; what nothing in it tells is listed by name; and the files that are
 * for people are made again instead of being believed.
 */

struct bundle_check {
	const struct bundle *b;
	const char *folder;
	const struct run *run; /* of each run of `b`, in that order */
	bool is_signed;
	struct complaints *differences;
};

#define TEXT_MOST (64 << 20)

/* Was the bundle made by this very kblat? Then it must have every word that this one would write. */
static bool bundle_is_of_this(const struct bundle *b)
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

/* bundle.json, and the record of the study, against the runs. */
static void bundle_check_index(const struct bundle_check *c)
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

/* ARTIFACT.md and claims.tsv, from what is in the bundle and from verdicts made again; the pages, if there are some, of those
 * runs for which `is_sound` says so. 0 or a negative errno and `e`. */
static int bundle_make_again(const struct bundle_check *c, const struct claim_verdicts *v, const bool *is_sound,
			     struct err *e)
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

/* [{"files": a pattern as of fnmatch(3), "what": words}] of what is in the bundle, and was not checked: a new reference. */
static json_t *bundle_unchecked(const struct bundle *b)
{
	const struct source *list[UNCHECKED_MOST];
	const size_t count = list_unchecked(b, list);
	json_t *all = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(all, json_pack("{s:s, s:s}", "files", list[i]->files, "what", list[i]->what));
	return all;
}

/* The same of what is made again: ["ARTIFACT.md", …] */
static json_t *bundle_made_again(const struct bundle *b)
{
	json_t *list = json_array();

	for (size_t i = 0; i < READABLE; i++)
		if (has_files(b, readable[i].name))
			json_array_append_new(list, json_string(readable[i].name));
	if (has_files(b, "pages/*"))
		json_array_append_new(list, json_string("pages/*"));
	return list;
}

/* Both for people, on several lines without the last line break; the caller frees. `is_vouched_for`: a trusted signature
 * covers what was not checked. */
static char *bundle_limits_text(const struct bundle *b, bool is_vouched_for)
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

struct reproduction {
	const struct reproduce_request *request;
	char *folder;
	struct bundle b;
	struct bundle_signature signature;
	struct run *run;
	size_t runs;
	bool *is_sound;	   /* of each run */
	const char *about; /* what is checked at the moment */
	size_t troubles;   /* files or numbers that are not as the bundle says */
	struct claim_verdicts said, again, here;
	size_t differing; /* verdicts that are not the same again */
};

/* --- the runs --- */

static void note_trouble(void *arg, const char *text)
{
	struct reproduction *x = arg;

	x->troubles++;
	if (!x->request->quiet)
		fprintf(stderr, "kblat: %s: %s\n", text_shown(x->about), text_shown(text));
}

static bool is_no_column(const char *name, void *arg)
{
	(void)arg;
	return !bundle_is_column(name);
}

/* With the columns all numbers are computed again; without them, what follows from the summaries. */
static int reproduce_check_run(struct reproduction *x, const struct run *run, struct err *e)
{
	struct err own = ERR_INIT;
	struct verified seen;
	int rc;

	if (!x->b.has_columns) {
		rc = manifest_check_files(run->path, is_no_column, NULL, &own);
		if (rc)
			note_trouble(x, own.text);
		return rc ? 0 : verify_strictly(run, claims_files, false, note_trouble, x, &seen, e);
	}
	rc = manifest_check(run->path, note_trouble, x, e);
	/* Numbers are not computed from files that are not those of the run. */
	return rc ? (rc < 0 ? rc : 0) : verify_strictly(run, claims_files, true, note_trouble, x, &seen, e);
}

static int check_runs(struct reproduction *x, struct err *e)
{
	int rc = 0;

	x->run = or_abort(calloc(x->b.runs, sizeof(*x->run)));
	x->is_sound = or_abort(calloc(x->b.runs, sizeof(*x->is_sound)));
	for (size_t i = 0; i < x->b.runs && rc >= 0; i++) {
		char *path = fs_path("%s/runs/%s", x->folder, x->b.run[i].path);
		const size_t before = x->troubles;

		x->about = x->b.run[i].path;
		rc = run_open(path, &x->run[x->runs], e);
		if (!rc) {
			x->runs++;
			rc = reproduce_check_run(x, &x->run[i], e);
			x->is_sound[i] = x->troubles == before;
		}
		free(path);
	}
	return rc < 0 ? rc : 0;
}

/* --- claims --- */

static const struct claim_verdict *find_claim(const struct claim_verdicts *v, const struct claim_verdict *like)
{
	for (size_t i = 0; i < v->count; i++)
		if (!strcmp(v->all[i].experiment, like->experiment) && !strcmp(v->all[i].id, like->id))
			return &v->all[i];
	return NULL;
}

static bool is_same_verdict(const struct claim_verdict *a, const struct claim_verdict *b)
{
	return a && b && a->verdict == b->verdict;
}

/* All else that the verdicts say, when they are the same. */
static void check_claims(struct reproduction *x)
{
	char *path = fs_path("%s/claims.json", x->folder);
	struct err e = ERR_INIT;
	json_t *said = json_read(path, &e), *again = claim_verdicts_to_json(&x->again);

	x->about = x->request->bundle;
	if (!said || !(bundle_is_of_this(&x->b) ? json_equal(said, again) : data_equal(said, again)))
		note_trouble(x, "claims.json: it differs from a new judgement");
	json_decref(again);
	json_decref(said);
	free(path);
}

static int judge_again(struct reproduction *x, struct err *e)
{
	int rc = claims_judge(x->run, x->runs, &x->again, e);

	x->said = claims_read(x->folder);
	for (size_t i = 0; i < x->said.count && !rc; i++)
		x->differing += !is_same_verdict(&x->said.all[i], find_claim(&x->again, &x->said.all[i]));
	for (size_t i = 0; i < x->again.count && !rc; i++)
		x->differing += !find_claim(&x->said, &x->again.all[i]);
	if (!rc && !x->differing)
		check_claims(x);
	return rc;
}

/* --- what the bundle says of itself, and what is for people --- */

static int check_rest(struct reproduction *x, struct err *e)
{
	struct complaints differences = {note_trouble, x, 0};
	const struct bundle_check c = {.b = &x->b,
				       .folder = x->folder,
				       .run = x->run,
				       .is_signed = x->signature.there,
				       .differences = &differences};

	x->about = BUNDLE_INDEX;
	bundle_check_index(&c);
	x->about = x->request->bundle;
	return bundle_make_again(&c, &x->again, x->request->out ? x->is_sound : NULL, e);
}

/* --- the table --- */

enum claim_column { COLUMN_EXPERIMENT, COLUMN_CLAIM, COLUMN_SAID, COLUMN_AGAIN, COLUMN_HERE, COLUMN_WHY, COLUMNS };

static const struct table_column claim_columns[COLUMNS] = {
    [COLUMN_EXPERIMENT] = {.label = "experiment", .most = 40, .heads_row = true},
    [COLUMN_CLAIM] = {.label = "claim", .most = 40},
    [COLUMN_SAID] = {.label = "in the bundle"},
    [COLUMN_AGAIN] = {.label = "judged again"},
    [COLUMN_HERE] = {.label = "measured here"},
    [COLUMN_WHY] = {.label = "why it differs", .most = TABLE_WHOLE},
};

static void put_verdict(struct table *t, size_t column, size_t row, const struct claim_verdict *v)
{
	static const enum tone tones[CLAIM_OUTCOMES] = {TONE_GOOD, TONE_BAD, TONE_NEUTRAL};

	if (v)
		table_verdict(t, column, row, tones[v->verdict], claim_outcome_names[v->verdict]);
}

static struct table make_table(const struct reproduction *x)
{
	const bool differs = x->here.count || x->differing;
	struct table t = table_of(claim_columns, differs ? COLUMNS : COLUMN_HERE, x->said.count);

	for (size_t i = 0; i < x->said.count; i++) {
		const struct claim_verdict *said = &x->said.all[i], *again = find_claim(&x->again, said),
					   *here = find_claim(&x->here, said);

		table_text(&t, COLUMN_EXPERIMENT, i, "%s", said->experiment);
		table_text(&t, COLUMN_CLAIM, i, "%s", said->id);
		put_verdict(&t, COLUMN_SAID, i, said);
		put_verdict(&t, COLUMN_AGAIN, i, again);
		if (!differs)
			continue;
		put_verdict(&t, COLUMN_HERE, i, here);
		table_text(&t, COLUMN_WHY, i, "%s",
			   again && !is_same_verdict(said, again) ? again->why
			   : here && !is_same_verdict(said, here) ? here->why
								  : "");
	}
	return t;
}

/* --- the table of the page --- */

enum { PAGE_RUN, PAGE_CLAIM, PAGE_SOURCE, PAGE_MEASURED, PAGE_SAID, PAGE_AGAIN, PAGE_WHY, PAGE_HERE, PAGE_COLUMNS };

/* The runs of an experiment, each with its host and its date, and a link to its page, or to its folder. */
static char *runs_of(const struct reproduction *x, const char *experiment)
{
	char *markup = NULL;
	size_t size;
	FILE *out = or_abort(open_memstream(&markup, &size));

	for (size_t i = 0; i < x->runs; i++) {
		const struct run_record *record = &x->run[i].record;
		const char *path = strrchr(x->run[i].path, '/') + 1;
		char *page;

		if (!record->name || strcmp(record->name, experiment) != 0)
			continue;
		page = fs_path("%s/derived/report.html", x->run[i].path);
		fputs("<a href=\"../runs/", out);
		escape_url(out, path);
		fprintf(out, "/%s\">", fs_is_missing(page) ? "README.txt" : "derived/report.html");
		free(page);
		escape_html(out, experiment);
		fprintf(out, "</a> <span class=\"soft\">");
		for (size_t k = 0; k < record->hosts; k++) {
			fputs(k ? " and " : "on ", out);
			escape_html(out, record->host[k].name);
		}
		fputs(", ", out);
		escape_html(out, record->started_utc ?: "?");
		fputs("</span> ", out);
	}
	fclose(out);
	return or_abort(markup);
}

/* A row for each claim: its text and source, what the source measured, what was measured here, and the verdicts. */
static struct table page_table(const struct reproduction *x)
{
	static const struct table_column columns[PAGE_COLUMNS] = {
	    [PAGE_RUN] = {.label = "experiment", .heads_row = true},
	    [PAGE_CLAIM] = {.label = "claim"},
	    [PAGE_SOURCE] = {.label = "the source"},
	    [PAGE_MEASURED] = {.label = "measured",
			       .help = "in the runs of the bundle; below it, what is measured and its bound"},
	    [PAGE_SAID] = {.label = "in the bundle", .help = "the verdict that the bundle brings"},
	    [PAGE_AGAIN] = {.label = "judged again", .help = "the verdict of this kblat about the same runs"},
	    [PAGE_HERE] = {.label = "measured here", .help = "the verdict about runs of this machine"},
	    [PAGE_WHY] = {.label = "why"},
	};
	struct table t = table_of(columns, x->here.count ? PAGE_COLUMNS : PAGE_HERE, x->said.count);

	for (size_t i = 0; i < x->said.count; i++) {
		const struct claim_verdict *said = &x->said.all[i], *again = find_claim(&x->again, said),
					   *here = find_claim(&x->here, said);
		char *runs = runs_of(x, said->experiment);

		table_drawing(&t, PAGE_RUN, i, runs);
		table_text(&t, PAGE_CLAIM, i, "%s", said->claim);
		table_remark(&t, PAGE_CLAIM, i, "%s%s%s", said->id, *said->source ? "; " : "", said->source);
		table_text(&t, PAGE_SOURCE, i, "%s", said->measured_by_source);
		table_text(&t, PAGE_MEASURED, i, "%s%s%s", said->measured, here ? "; here " : "",
			   here ? here->measured : "");
		table_remark(&t, PAGE_MEASURED, i, "%s: %s", said->metric, said->wanted);
		put_verdict(&t, PAGE_SAID, i, said);
		put_verdict(&t, PAGE_AGAIN, i, again);
		if (x->here.count)
			put_verdict(&t, PAGE_HERE, i, here);
		table_text(&t, PAGE_WHY, i, "%s", (here ?: again ?: said)->why);
		free(runs);
	}
	return t;
}

/* --- the answer --- */

static bool signature_suffices(const struct reproduction *x)
{
	return !x->request->require_signature || x->signature.trusted;
}

static char *signature_text(const struct reproduction *x)
{
	const struct bundle_signature *s = &x->signature;

	if (!s->there)
		return fs_path("not signed");
	if (s->trusted)
		return fs_path("signed by %s, who is trusted, at %s", s->who, x->b.signed_utc);
	return fs_path("signed at %s by somebody who is not known here (%s)", x->b.signed_utc, s->who);
}

static char *answer_text(const struct reproduction *x)
{
	const struct claim_verdicts *v = &x->said;

	if (x->troubles)
		return fs_path("%zu file%s or number%s not as the bundle says", x->troubles,
			       x->troubles == 1 ? "" : "s", x->troubles == 1 ? " is" : "s are");
	if (x->differing)
		return fs_path("%zu of %zu verdicts %s not the same when the claims are judged again", x->differing,
			       v->count, x->differing == 1 ? "is" : "are");
	return fs_path("%s; the verdicts are the same (claims: %zu; %zu hold, %zu fail, %zu not judged)",
		       x->b.has_columns
			   ? "in the summaries and claims, all numbers follow from the columns, counters and "
			     "settings"
			   : "the files are whole (there are no columns to compute the numbers from)",
		       v->count, claim_verdicts_count(v, CLAIM_HOLDS), claim_verdicts_count(v, CLAIM_FAILS),
		       claim_verdicts_count(v, CLAIM_NOT_JUDGED));
}

static size_t count_same_here(const struct reproduction *x)
{
	size_t count = 0;

	for (size_t i = 0; i < x->said.count; i++)
		count += is_same_verdict(&x->said.all[i], find_claim(&x->here, &x->said.all[i]));
	return count;
}

static json_t *verdict_word(const struct claim_verdict *v)
{
	return v ? json_string(claim_outcome_names[v->verdict]) : json_null();
}

static json_t *answer_json(const struct reproduction *x, const char *answer, const char *signature)
{
	json_t *claims = json_array();

	for (size_t i = 0; i < x->said.count; i++) {
		const struct claim_verdict *said = &x->said.all[i];

		json_array_append_new(claims, json_pack("{s:s, s:s, s:o, s:o, s:o}", "experiment", said->experiment,
							"id", said->id, "bundle", verdict_word(said), "again",
							verdict_word(find_claim(&x->again, said)), "here",
							verdict_word(find_claim(&x->here, said))));
	}
	return json_pack("{s:i, s:s, s:s, s:b, s:b, s:i, s:i, s:o, s:o, s:o, s:b}", "schema", 1, "answer", answer,
			 "signature", signature, "trusted", x->signature.trusted, "columns", x->b.has_columns,
			 "troubles", (int)x->troubles, "differing", (int)x->differing, "claims", claims, "not_checked",
			 bundle_unchecked(&x->b), "made_again", bundle_made_again(&x->b), "sentences_checked",
			 bundle_is_of_this(&x->b));
}

struct answer {
	const struct reproduction *x;
	const char *text, *signature, *limits;
	bool is_good;
};

static void reproduce_write_page(const struct page *p, const void *arg)
{
	const struct answer *a = arg;
	struct table t = page_table(a->x);

	answer_page_verdict(p, a->is_good ? "ok" : "no", a->is_good ? "as the bundle says" : "not as the bundle says",
			    a->text);
	html_printf(p, "<p>The bundle is ");
	html_text(p, a->signature);
	html_printf(p, ". It has %zu runs of kblat ", a->x->b.runs);
	html_text(p, a->x->b.version);
	html_printf(p, ".</p>\n<section>\n<h2>Claims</h2>\n");
	html_table(p, &t, "claims", false);
	html_printf(p, "</section>\n");
	table_free(&t);
	html_preformatted(p, "What this does not say", a->limits);
}

static int draw_nothing(struct figures *f, const void *arg, struct err *e)
{
	(void)f, (void)arg, (void)e;
	return 0;
}

static int reproduce_page(const struct answer *a, const json_t *j, struct err *e)
{
	char *dir = fs_path("%s/reproduced", a->x->folder), *html = NULL;
	const struct answer_page page = {.dir = dir,
					 .json_name = "reproduced.json",
					 .json = j,
					 .title = a->x->b.title,
					 .foot = "Made by <code>kblat reproduce</code>.",
					 .draw = draw_nothing,
					 .write = reproduce_write_page,
					 .arg = a};
	int rc = fs_mkdirs(dir, e) ?: answer_page_make(&page, &html, e);

	free(html);
	free(dir);
	return rc;
}

static void print_answer(const struct answer *a)
{
	const struct reproduction *x = a->x;
	struct table t = make_table(x);

	printf("%s: %zu run%s of kblat %s%s%s; %s\n", text_named(x->b.title), x->b.runs, x->b.runs == 1 ? "" : "s",
	       text_named(x->b.version), x->b.has_columns ? "" : ", without columns",
	       x->b.has_states ? "" : ", without states", a->signature);
	if (x->said.count)
		table_print(&t, &(struct table_style){.width = 120}, stdout);
	table_free(&t);
	printf("%s\n%s\n", text_shown(a->text), a->limits);
	if (x->here.count)
		printf("measured here: %zu of %zu verdicts are as in the bundle\n", count_same_here(x), x->said.count);
}

static enum status tell_reproduced(struct reproduction *x, struct err *e)
{
	char *text = answer_text(x), *signature = signature_text(x),
	     *limits = bundle_limits_text(&x->b, x->signature.trusted);
	const struct answer a = {x, text, signature, limits, !x->troubles && !x->differing};
	json_t *j = answer_json(x, text, signature);
	int rc = 0;

	if (x->request->json)
		json_print(j, stdout);
	else
		print_answer(&a);
	if (!signature_suffices(x))
		fprintf(stderr, "kblat: %s: %s, and --require-signature asks for one that is trusted%s\n",
			x->request->bundle, signature,
			x->request->signers ? "" : "; name a list of signers with --signers");
	if (x->request->out)
		rc = reproduce_page(&a, j, e);
	json_decref(j);
	free(limits);
	free(signature);
	free(text);
	return rc ? err_status(e) : a.is_good && signature_suffices(x) ? STATUS_OK : STATUS_NO;
}

/* --- this machine --- */

/* What of this machine differs from that of the bundle's first run. */
static int compare_states(const struct reproduction *x, struct err *e)
{
	char *dir = fs_path("%s/state-here", x->folder), *host = NULL;
	json_t *there = NULL, *here = NULL, *differences = NULL;
	const struct run_record *record = &x->run[0].record;
	struct sysroot root;
	int rc = sysroot_open(&root, NULL, e);

	for (size_t i = 0; i < record->hosts; i++)
		if (!host && run_host_is(&record->host[i], "sink"))
			host = fs_path("%s/state/%s", x->run[0].path, record->host[i].name);
	if (!rc) {
		rc = state_capture(&root, dir, NULL, e);
		sysroot_close(&root);
	}
	if (!rc && (!host || !(there = state_load(host, e)) || !(here = state_load(dir, e))))
		rc = -ENOENT;
	rc = rc ?: state_diff(there, here, NULL, &differences, e);
	if (!rc) {
		printf("This machine (b) against that of the run (a):\n");
		diff_print(differences);
	}
	json_decref(differences);
	json_decref(here);
	json_decref(there);
	free(host);
	free(dir);
	return rc;
}

/* --- the whole --- */

static int check_signature(struct reproduction *x, struct err *e)
{
	int rc = bundle_check_signature(x->folder, x->request->signers, &x->signature, e);

	return rc || !x->signature.there || x->signature.good
		   ? rc
		   : err_set(e, -EBADMSG, STATUS_USAGE, x->request->bundle, "be used",
			     "its signature is not that of its content: %s", x->signature.who);
}

static enum status reproduce_in(struct reproduction *x, struct err *e)
{
	int rc = bundle_tar_read(x->request->bundle, x->folder, &x->b, e) ?: check_signature(x, e) ?:
		 check_runs(x, e) ?: judge_again(x, e) ?: check_rest(x, e);

	if (!rc && x->request->state && !x->request->json)
		rc = compare_states(x, e);
	if (!rc && x->request->run) {
		char *here = fs_path("%s/here", x->folder);

		rc = reproduce_run(&x->b, here, &x->here, e);
		free(here);
	}
	if (rc)
		return err_status(e);
	if (x->request->quiet)
		return x->troubles || x->differing ? STATUS_NO : STATUS_OK;
	return tell_reproduced(x, e);
}

/* While it is unpacked and checked, its folder has another name: nobody takes a part for the whole. */
static enum status reproduce_kept(struct reproduction *x, struct err *e)
{
	const char *out = x->request->out;
	enum status status;

	x->folder = fs_path("%s.partial", out);
	if (!fs_is_missing(out))
		err_set(e, -EEXIST, STATUS_USAGE, out, "unpack there", "it exists; name a new folder");
	else if (mkdir(x->folder, 0700))
		err_sys(e, -errno, x->folder, "make");
	if (e->status)
		return e->status;
	status = reproduce_in(x, e);
	if (e->status)
		fs_remove_tree(x->folder, NULL);
	else if (rename(x->folder, out))
		err_sys(e, -errno, out, "make");
	else if (!x->request->json)
		printf("%s/reproduced/report.html\n", out);
	return e->status ? e->status : status;
}

static enum status reproduce_once(struct reproduction *x, struct err *e)
{
	struct temporary temporary;
	enum status status;

	if (temporary_make(&temporary, NULL, "reproduce", e))
		return e->status;
	x->folder = fs_path("%s", temporary.path);
	status = reproduce_in(x, e);
	temporary_remove(&temporary);
	return status;
}

enum status reproduce_bundle(const struct reproduce_request *r, struct err *e)
{
	struct reproduction x = {.request = r};
	enum status status = r->out ? reproduce_kept(&x, e) : reproduce_once(&x, e);

	while (x.runs)
		run_close(&x.run[--x.runs]);
	free(x.run);
	free(x.is_sound);
	claim_verdicts_free(&x.said);
	claim_verdicts_free(&x.again);
	claim_verdicts_free(&x.here);
	bundle_free(&x.b);
	free(x.folder);
	return status;
}
