#include "study/campaign/campaign_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "files/rundir/run_mode.h"
#include "judge/claims/claims.h"
#include "report/derived.h"
#include "report/gnuplot.h"
#include "report/html.h"
#include "report/html_blocks.h"
#include "report/report.h"

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

int campaign_open_runs(const struct study *s, struct run **runs, size_t *count, struct err *e)
{
	int rc = 0;

	*runs = or_abort(calloc(s->count + 1, sizeof(**runs)));
	*count = 0;
	for (size_t i = 0; i < s->count && !rc; i++)
		if (s->cell[i].run && !(rc = run_open_inside(s->path, s->cell[i].run, &(*runs)[*count], e)))
			(*count)++;
	return rc;
}

void campaign_close_runs(struct run *runs, size_t count)
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

int campaign_page_make(struct study *s, char **html, struct err *e)
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
