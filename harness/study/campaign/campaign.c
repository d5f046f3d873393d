/*
 * A campaign: a kind of study that runs all experiments of a folder, one after the other. Its directory also has
 *
 *     <experiment>-<UTC>-<8 hex>/   run directories
 *     claims.json      the claims of all experiments, judged jointly
 *     claims.tsv       the same, for a paper
 *     derived/         report.html and figures, from `kblat report`
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "files/rundir/reader.h"
#include "files/rundir/run_mode.h"
#include "judge/claims/claim_verdict.h"
#include "judge/claims/claims.h"
#include "measure/run/environment.h"
#include "report/derived.h"
#include "report/gnuplot.h"
#include "report/html.h"
#include "report/html_blocks.h"
#include "report/report.h"
#include "report/verdict_format.h"
#include "study/campaign/campaign_folder.h"
#include "study/kinds.h"
#include "study/runner.h"
#include "study/study.h"
#include "study/study_record.h"
#include "study/study_run.h"

/* --- the page --- */

/* --- the pages of the runs --- */

/* The verdicts of one experiment among all; only the list must be freed. */
static struct claim_verdicts claims_of(const struct claim_verdicts *verdicts, const char *experiment)
{
	struct claim_verdicts own = {0};

	for (size_t i = 0; i < verdicts->count; i++)
		if (!strcmp(verdicts->all[i].experiment, experiment))
			claim_verdicts_add(&own, verdicts->all[i]);
	return own;
}

/* The number of pages begun before the first one is finished: enough to keep gnuplot busy. */
#define AHEAD 4

struct run_page {
	struct claim_verdicts verdicts;
	struct report_draft *draft;
};

static int start_page(struct run_page *page, const struct run *run, const struct claim_verdicts *verdicts,
		      struct gnuplot *g, struct err *e)
{
	page->verdicts = claims_of(verdicts, html_string(run->resolved, "name", ""));
	page->draft = report_start(run, 1, &page->verdicts, g, e);
	return page->draft ? 0 : -EIO;
}

/* Pages are made even if figures cannot be drawn; `drawing` gives the reason. */
static int finish_page(struct run_page *page, struct gnuplot *g, struct err *drawing, struct err *e)
{
	struct err own = ERR_INIT;
	char *html = NULL;
	int rc = page->draft ? report_finish(page->draft, g, &html, &own) : 0;
	bool drawn = own.status != STATUS_IMPOSSIBLE;

	free(page->verdicts.all);
	free(html);
	if (rc)
		err_set(drawn ? e : drawing, rc, own.status, NULL, NULL, "%s", own.text);
	return drawn ? rc : 0;
}

/* Figures of some pages are drawn while others are begun. After an error, pages that were begun are
 * finished nevertheless. */
static int make_run_pages(const struct run *runs, size_t count, const struct claim_verdicts *verdicts,
			  struct err *drawing, struct err *e)
{
	struct run_page *pages = or_abort(calloc(count + 1, sizeof(*pages)));
	struct gnuplot *g = gnuplot_open();
	int rc = 0;

	for (size_t i = 0; i < count + AHEAD; i++) {
		int finished = i < AHEAD ? 0 : finish_page(&pages[i - AHEAD], g, drawing, e);

		rc = rc ? rc : finished;
		if (!rc && i < count)
			rc = start_page(&pages[i], &runs[i], verdicts, g, e);
	}
	gnuplot_close(g);
	free(pages);
	return rc;
}

/* Open all runs that there are. campaign_close_runs() them in any case. */
static int campaign_open_runs(const struct study *s, struct run **runs, size_t *count, struct err *e)
{
	int rc = 0;

	*runs = or_abort(calloc(s->count + 1, sizeof(**runs)));
	*count = 0;
	for (size_t i = 0; i < s->count && !rc; i++)
		if (s->cell[i].run && !(rc = run_open_inside(s->path, s->cell[i].run, &(*runs)[*count], e)))
			(*count)++;
	return rc;
}

static void campaign_close_runs(struct run *runs, size_t count)
{
	while (count)
		run_close(&runs[--count]);
	free(runs);
}

/* --- the page --- */

static void campaign_head(const struct page *p, const struct study *s)
{
	html_head(p, *s->title ? s->title : s->name);
	html_printf(p, "<p class=\"soft\">Campaign ");
	html_text(p, s->name);
	html_printf(p, ", begun ");
	html_text(p, s->started_utc);
	html_printf(p, ": %s</p>\n", study_statuses[s->status]);
}

enum { EXPERIMENT, STATE, POINTS, OUTCOME, WHY = OUTCOME + CLAIM_OUTCOMES, EXPERIMENT_COLUMNS };

static const struct table_column experiment_columns[EXPERIMENT_COLUMNS] = {
    [EXPERIMENT] = {.label = "experiment", .heads_row = true},
    [STATE] = {.label = "state"},
    [POINTS] = {.label = "points", .align = TABLE_RIGHT},
    [OUTCOME + CLAIM_HOLDS] = {.label = "claims that hold", .align = TABLE_RIGHT},
    [OUTCOME + CLAIM_FAILS] = {.label = "fail", .align = TABLE_RIGHT},
    [OUTCOME + CLAIM_NOT_JUDGED] = {.label = "not judged", .align = TABLE_RIGHT},
    [WHY] = {.label = "", .most = TABLE_WHOLE},
};

static enum tone state_tone(enum cell_state state)
{
	return state == CELL_COMPLETED				   ? TONE_GOOD
	       : state == CELL_FAILED || state == CELL_INTERRUPTED ? TONE_BAD
								   : TONE_NEUTRAL;
}

/* `run`: NULL if it has none. The experiment is named there; the cell has the name of its folder. */
static void put_experiment(struct table *t, size_t row, const struct page *p, const struct cell *c,
			   const struct run *run)
{
	struct claim_verdicts own = claims_of(p->claims, run ? html_string(run->resolved, "name", "") : c->name);

	table_text(t, EXPERIMENT, row, "%s", c->name);
	if (c->run)
		table_link(t, EXPERIMENT, row, "../%s/derived/report.html", c->run);
	table_verdict(t, STATE, row, state_tone(c->state), cell_states[c->state]);
	table_count(t, POINTS, row, (int64_t)c->points);
	for (enum claim_outcome v = 0; v < CLAIM_OUTCOMES; v++)
		table_count(t, OUTCOME + v, row, (int64_t)claim_verdicts_count(&own, v));
	table_text(t, WHY, row, "%s", c->why);
	free(own.all);
}

/* `runs` are those of the cells that have one, in their order. */
static void write_experiments(const struct page *p, const struct study *s, const struct run *runs)
{
	struct table t = table_of(experiment_columns, EXPERIMENT_COLUMNS, s->count);

	for (size_t i = 0; i < s->count; i++)
		put_experiment(&t, i, p, &s->cell[i], s->cell[i].run ? runs++ : NULL);
	html_printf(p, "<section>\n<h2>Experiments</h2>\n");
	html_table(p, &t, "", false);
	html_printf(p, "</section>\n");
	table_free(&t);
}

static int campaign_page_write(const char *path, const struct study *s, const struct run *runs,
			       const struct claim_verdicts *verdicts, struct err *e)
{
	struct page page = {.claims = verdicts, .out = derived_open(path, e)};

	if (page.out) {
		campaign_head(&page, s);
		html_claims_answer(&page);
		write_experiments(&page, s, runs);
		html_claims(&page);
		html_foot(&page, "Generated from the campaign's runs; <code>kblat report</code> generates it again. "
				 "The same claims as a table: claims.tsv.");
	}
	return derived_close(page.out, path, e);
}

static int make_all(const struct study *s, struct run *runs, size_t count, const char *html, struct err *e)
{
	struct claim_verdicts verdicts;
	int rc = claims_judge(runs, count, &verdicts, e);
	char *derived = fs_path("%s/derived", s->path);
	struct err drawing = ERR_INIT;

	if (!rc)
		rc = make_run_pages(runs, count, &verdicts, &drawing, e);
	/* Missing figures are reported at the end. */
	if (!rc)
		rc = fs_remove_tree(derived, e) ?: fs_mkdirs(derived, e);
	if (!rc)
		rc = campaign_page_write(html, s, runs, &verdicts, e);
	if (!rc && drawing.status)
		rc = err_set(e, -ENOENT, drawing.status, NULL, NULL, "%s", drawing.text);
	claim_verdicts_free(&verdicts);
	free(derived);
	return rc;
}

/* Make the page. `html` (free it) is set to its path. 0 or a negative errno and `e`. */
static int campaign_page_make(struct study *s, char **html, struct err *e)
{
	struct run *runs;
	size_t count;
	int rc = campaign_open_runs(s, &runs, &count, e);

	*html = NULL;
	if (!rc) {
		const mode_t mask = run_mode_limit(run_mode_of(runs, count));

		*html = fs_path("%s/derived/report.html", s->path);
		rc = make_all(s, runs, count, *html, e);
		umask(mask);
	}
	campaign_close_runs(runs, count);
	return rc;
}

/* --- the budget --- */

/*
 * An experiment is started if it is expected to end within the remaining time; otherwise it is left, and smaller ones
 * after it may still run. One that was started is finished, because it would have to be repeated from its first point.
 * Expected times are those of measure/run/forecast.h. If the experiments so far have taken longer than expected, the part
 * that is not prescribed is increased by the same factor.
 */

/* How many times longer than expected the part that is not prescribed has taken in the experiments so far: 1 or more. */
static double pace_of(const struct study *s)
{
	double expected = 0, took = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct cell *c = &s->cell[i];

		if (c->state != CELL_COMPLETED || isnan(c->took_s) || c->expected.rest_s <= 0)
			continue;
		took += fmax(0, c->took_s - c->expected.paced_s);
		expected += c->expected.rest_s;
	}
	return took > expected && expected > 0 ? took / expected : 1;
}

/* Prescribed times do not depend on the speed of the machine. */
static double needed_s(const struct cell *c, double pace)
{
	return c->expected.paced_s + c->expected.rest_s * pace;
}

/* Can any experiment be run? If not, the error has the time that the smallest one needs. */
static int budget_check(const struct study *s, struct err *e)
{
	const struct cell *smallest = NULL;
	char needed[FORECAST_TEXT_MAX], given[FORECAST_TEXT_MAX];
	const double pace = pace_of(s), limit_s = s->request->budget_s;

	for (size_t i = 0; i < s->count; i++)
		if (cell_is_left(&s->cell[i]) && (!smallest || needed_s(&s->cell[i], pace) < needed_s(smallest, pace)))
			smallest = &s->cell[i];
	if (!smallest || needed_s(smallest, pace) <= limit_s)
		return 0;
	return err_set(e, -EINVAL, STATUS_USAGE, "--budget", NULL,
		       "%s is too short: the smallest experiment, %s, needs about %s; allow more time, or reduce the "
		       "work with --quick or --only",
		       forecast_text(limit_s, given, sizeof(given)), smallest->name,
		       forecast_text(needed_s(smallest, pace), needed, sizeof(needed)));
}

/* Is there time for this one? If not, it says why. */
static bool budget_allows(const struct study *s, struct cell *c)
{
	const double needs_s = needed_s(c, pace_of(s)), left_s = fmax(0, study_left_s(s));
	char needed[FORECAST_TEXT_MAX], left[FORECAST_TEXT_MAX], why[3 * FORECAST_TEXT_MAX];

	if (needs_s <= left_s)
		return true;
	snprintf(why, sizeof(why), "left: needs about %s, %s of the budget remained",
		 forecast_text(needs_s, needed, sizeof(needed)), forecast_text(left_s, left, sizeof(left)));
	cell_set_state(c, CELL_PENDING, why);
	return false;
}

/* What is left for lack of time, as a sentence; NULL: nothing. The caller frees. */
static char *budget_left_sentence(const struct study *s)
{
	char text[FORECAST_TEXT_MAX];
	double seconds = 0;
	size_t count = 0, points = 0;

	for (size_t i = 0; i < s->count && s->request->budget_s > 0; i++) {
		if (s->cell[i].state != CELL_PENDING)
			continue;
		count++;
		points += s->cell[i].points;
		seconds += needed_s(&s->cell[i], pace_of(s));
	}
	return count ? fs_path("%zu experiment%s with %zu point%s left, about %s", count, count == 1 ? "" : "s", points,
			       points == 1 ? "" : "s", forecast_text(seconds, text, sizeof(text)))
		     : NULL;
}

/* --- the plan --- */

static void plan_experiment(struct study *s, const struct experiment *x, const struct spec_overrides *o)
{
	const size_t points = json_array_size(x->points);
	struct cell *c = study_add_cell(s);

	c->name = fs_path("%s", x->name);
	c->spec = fs_path("%s", x->path);
	for (size_t i = 0; i < o->set_count; i++)
		if (x->applies[i])
			words_add(&c->set, fs_path("%s", o->set[i]));
	c->points = points;
	c->messages = x->messages;
	c->expected = x->expected;
	if (!points)
		cell_set_state(c, CELL_SKIPPED, "no point matches --only");
}

static enum status plan_campaign(struct study *s, const struct study_request *r, struct err *e)
{
	struct experiments *all = or_abort(calloc(1, sizeof(*all)));

	s->plan = all;
	if (experiments_load(r->path, &r->overrides, r->out, all, stderr, e))
		return e->status ? e->status : STATUS_USAGE;
	s->name = fs_path("%s", all->name);
	free(s->title);
	s->title = fs_path("%s", all->title);
	s->spec = fs_path("%s", all->path);
	s->parent = r->out ? fs_path("%s", r->out) : fs_path("%s/runs", all->path);
	words_free(&s->options.set); /* each experiment has those that apply to it */
	for (size_t i = 0; i < all->count; i++)
		plan_experiment(s, &all->items[i], &r->overrides);
	return r->dry_run && environment_foresee(all->environments, stderr, e) ? err_status(e) : STATUS_OK;
}

static void free_plan(void *plan)
{
	experiments_free(plan);
	free(plan);
}

/* If both sides are on this machine. */
static void say_missing(const struct study *s, const struct study_request *r)
{
	if (s->plan && !r->source && !r->sink && !(r->dry_run && r->json))
		experiments_say_missing(s->plan, stderr);
}

static void show_campaign(const struct study *s, const struct study_request *r)
{
	say_missing(s, r);
	if (s->plan)
		experiments_show(s->plan, r->budget_s, r->json);
	else
		study_print_cells(s);
}

/* Update the expected durations with what has been measured since. */
static void expect_again(struct study *s)
{
	char *runs = fs_path("%s/..", s->path);

	for (size_t i = 0; i < s->count; i++) {
		struct forecast expected;

		if (cell_is_left(&s->cell[i]) && !experiments_forecast(s, &s->cell[i], runs, &expected))
			s->cell[i].expected = expected;
	}
	free(runs);
}

static enum status check_budget_of(struct study *s, const struct study_request *r, struct err *e)
{
	if (r->resume && (r->budget_s > 0 || r->dry_run))
		expect_again(s);
	return r->budget_s > 0 && budget_check(s, e) ? err_status(e) : STATUS_OK;
}

/* --- the experiments --- */

static int run_experiment(struct runner *r, size_t i, struct err *e)
{
	const struct study *s = r->s;
	int rc, finished;

	fprintf(stderr, "kblat: experiment %zu of %zu: %s\n", i + 1, s->count, text_named(s->cell[i].name));
	if (r->echo)
		fprintf(r->echo, "== %s\n", text_shown(s->cell[i].name));
	rc = runner_start(r, i, e);
	finished = runner_finish(r, e);
	if (r->echo)
		fprintf(r->echo, "\n");
	return rc ?: finished;
}

static int run_experiments(struct study *s, struct err *e)
{
	struct runner r;
	int rc = 0;

	say_missing(s, s->request);
	runner_open(&r, s, 1);
	r.echo = s->request->json || s->request->format ? NULL : stdout;
	for (size_t i = 0; i < s->count && !rc && !runner_is_interrupted(); i++)
		if (cell_is_left(&s->cell[i]))
			rc = budget_allows(s, &s->cell[i]) ? run_experiment(&r, i, e) : study_record_cell(s, i, e);
	runner_close(&r);
	return rc;
}

/* --- the end --- */

static int write_claims(const struct study *s, const struct claim_verdicts *verdicts, const json_t *document,
			struct err *e)
{
	char *json = fs_path("%s/claims.json", s->path), *tsv = fs_path("%s/claims.tsv", s->path), *text = NULL;
	size_t size = 0;
	FILE *out = or_abort(open_memstream(&text, &size));
	mode_t mask;
	int rc;

	claims_tsv(verdicts, out);
	fclose(out);
	mask = run_mode_limit(run_mode_below(s->path));
	rc = json_write(json, document, e) ?: fs_write(tsv, text, size, e);
	umask(mask);
	free(text);
	free(json);
	free(tsv);
	return rc;
}

/* Experiments left out because of a budget are not a failure: the user asked for that. */
static enum status status_of_campaign(const struct study *s, const struct claim_verdicts *verdicts)
{
	size_t not_valid = 0;

	if (runner_is_interrupted() || study_count(s, CELL_FAILED))
		return STATUS_FAILED;
	if (!study_count(s, CELL_COMPLETED))
		return STATUS_IMPOSSIBLE;
	for (size_t i = 0; i < s->count; i++)
		not_valid += s->cell[i].state == CELL_COMPLETED && s->cell[i].exit_status == STATUS_NO;
	return claim_verdicts_status(verdicts) == STATUS_NO || not_valid ? STATUS_NO : STATUS_OK;
}

static void print_campaign_list(const struct study *s, const struct claim_verdicts *verdicts, const struct run *runs,
				size_t count, enum status status)
{
	struct verdict_list list = verdict_list_of_claims(verdicts, runs, count);

	verdict_text(&list.suite, s->name);
	verdict_list_is_of(&list, s->path);
	list.result = verdict_of_status(status);
	verdict_format_print(s->request->format, list);
}

static void print_results(const struct study *s, const struct claim_verdicts *verdicts, const json_t *document,
			  const struct run *runs, size_t count, enum status status)
{
	if (s->request->format) {
		print_campaign_list(s, verdicts, runs, count, status);
		return;
	}
	if (s->request->json) {
		json_print(document, stdout);
		return;
	}
	study_print_cells(s);
	if (verdicts->count)
		claims_table(verdicts, stdout);
}

static void say_what_is_left(const struct study *s)
{
	const double excess_s = -study_left_s(s);
	char *left = budget_left_sentence(s), text[FORECAST_TEXT_MAX];

	if (excess_s >= 1)
		fprintf(stderr, "kblat: took %s longer than the budget, to finish an experiment that was running\n",
			forecast_text(excess_s, text, sizeof(text)));
	if (left && !runner_is_interrupted())
		fprintf(stderr, "kblat: %s; `kblat run --resume %s` continues with them\n", left, s->path);
	free(left);
}

static enum status judge_campaign(struct study *s, struct err *e)
{
	struct claim_verdicts verdicts = {0};
	struct run *runs;
	size_t count;
	json_t *document = NULL;
	enum status status = STATUS_FAILED;

	if (!campaign_open_runs(s, &runs, &count, e) && !claims_judge(runs, count, &verdicts, e))
		document = claim_verdicts_to_json(&verdicts);
	if (document && !write_claims(s, &verdicts, document, e)) {
		status = status_of_campaign(s, &verdicts);
		print_results(s, &verdicts, document, runs, count, status);
	}
	campaign_close_runs(runs, count);
	say_what_is_left(s);
	json_decref(document);
	claim_verdicts_free(&verdicts);
	return status;
}

const struct study_kind campaign_kind = {
    .name = "campaign",
    .suffix = "",
    .command = "kblat run",
    .plan = plan_campaign,
    .judge = judge_campaign,
    .show = show_campaign,
    .check = check_budget_of,
    .measure = run_experiments,
    .report = campaign_page_make,
    .plan_free = free_plan,
};
