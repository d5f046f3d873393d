/*
 * The page of a campaign: its experiments and their results, all claims, and links to the pages of
 * the runs.
 */
#include "report/campaign_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "claims/claims.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "report/derived.h"
#include "report/gnuplot.h"
#include "report/html_claims.h"
#include "report/report.h"
#include "rundir/run_mode.h"

bool campaign_page_is(const char *dir)
{
	char *path = fs_path("%s/campaign.json", dir);
	bool there = !access(path, F_OK);

	free(path);
	return there;
}

/* A run's name becomes a path, so it must be a single component that does not lead elsewhere. */
static const char *run_of(const json_t *experiment)
{
	const char *name = html_string(experiment, "run", "");

	return strchr(name, '/') || *name == '.' ? "" : name;
}

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

/* Open all existing runs, and count them. */
static int campaign_open_runs(const char *dir, const json_t *campaign, struct run *runs, size_t *count, struct err *e)
{
	const json_t *experiment;
	size_t i;
	int rc = 0;

	*count = 0;
	json_array_foreach (json_object_get(campaign, "experiments"), i, experiment) {
		if (!rc && *run_of(experiment) && !(rc = run_open_inside(dir, run_of(experiment), &runs[*count], e)))
			(*count)++;
	}
	return rc;
}

/* --- the page --- */

static void campaign_head(const struct page *p, const json_t *campaign)
{
	const char *title = html_string(campaign, "title", html_string(campaign, "study", "campaign"));

	html_head(p, title);
	html_printf(p, "<p class=\"soft\">Campaign ");
	html_text(p, html_string(campaign, "study", "?"));
	html_printf(p, ", begun ");
	html_text(p, html_string(campaign, "started_utc", "?"));
	html_printf(p, ": ");
	html_text(p, html_string(campaign, "status", "?"));
	html_printf(p, "</p>\n");
}

static const char *campaign_style(const char *state)
{
	return !strcmp(state, "completed")				   ? "yes"
	       : !strcmp(state, "failed") || !strcmp(state, "interrupted") ? "bad"
									   : "unsaid";
}

static void write_counts(const struct page *p, const struct claim_verdicts *own)
{
	for (enum claim_outcome v = 0; v < CLAIM_OUTCOMES; v++)
		html_printf(p, "<td class=\"n\">%zu</td>", claim_verdicts_count(own, v));
}

static void write_experiment(const struct page *p, const json_t *experiment)
{
	const char *state = html_string(experiment, "state", "?"), *name = html_string(experiment, "name", "?");
	const char *run = run_of(experiment);
	struct claim_verdicts own = claims_of(p->claims, name);

	html_printf(p, "<tr><th scope=\"row\">");
	if (*run) {
		html_printf(p, "<a href=\"../");
		html_text(p, run);
		html_printf(p, "/derived/report.html\">");
	}
	html_text(p, name);
	html_printf(p, "%s</th><td><span class=\"%s\">", *run ? "</a>" : "", campaign_style(state));
	html_text(p, state);
	html_printf(p, "</span></td><td class=\"n\">%" JSON_INTEGER_FORMAT "</td>",
		    json_integer_value(json_object_get(experiment, "points")));
	write_counts(p, &own);
	html_printf(p, "<td>");
	html_text(p, html_string(experiment, "why", ""));
	html_printf(p, "</td></tr>\n");
	free(own.all);
}

static void write_experiments(const struct page *p, const json_t *campaign)
{
	const json_t *experiment;
	size_t i;

	html_printf(
	    p,
	    "<section>\n<h2>Experiments</h2>\n<div class=\"wide\" tabindex=\"0\">\n<table>\n<thead><tr><th>experiment"
	    "</th><th>state</th><th class=\"n\">points</th><th class=\"n\">claims that hold</th><th class=\"n\">fail"
	    "</th><th class=\"n\">not judged</th><th></th></tr></thead>\n<tbody>\n");
	json_array_foreach (json_object_get(campaign, "experiments"), i, experiment)
		write_experiment(p, experiment);
	html_printf(p, "</tbody>\n</table>\n</div>\n</section>\n");
}

static int campaign_page_write(const char *path, const json_t *campaign, const struct claim_verdicts *verdicts,
			       struct err *e)
{
	struct page page = {.claims = verdicts, .out = derived_open(path, e)};

	if (page.out) {
		campaign_head(&page, campaign);
		write_experiments(&page, campaign);
		html_claims(&page);
		html_foot(&page, "Generated from the campaign's runs; <code>kblat report</code> generates it again. "
				 "The same claims as a table: claims.tsv.");
	}
	return derived_close(page.out, path, e);
}

static int make_all(const char *dir, const json_t *campaign, struct run *runs, size_t count, const char *html,
		    struct err *e)
{
	struct claim_verdicts verdicts;
	int rc = claims_judge(runs, count, &verdicts, e);
	char *derived = fs_path("%s/derived", dir);
	struct err drawing = ERR_INIT;

	if (!rc)
		rc = make_run_pages(runs, count, &verdicts, &drawing, e);
	/* Missing figures are reported at the end. */
	if (!rc)
		rc = fs_remove_tree(derived, e) ?: fs_mkdirs(derived, e);
	if (!rc)
		rc = campaign_page_write(html, campaign, &verdicts, e);
	if (!rc && drawing.status)
		rc = err_set(e, -ENOENT, drawing.status, NULL, NULL, "%s", drawing.text);
	claim_verdicts_free(&verdicts);
	free(derived);
	return rc;
}

int campaign_page_make(const char *dir, char **html_path, struct err *e)
{
	char *real = realpath(dir, NULL), *path = fs_path("%s/campaign.json", real ? real : dir);
	json_t *campaign = json_read(path, e);
	struct run *runs = calloc(json_array_size(json_object_get(campaign, "experiments")) + 1, sizeof(*runs));
	size_t count = 0;
	int rc = campaign && real && runs ? campaign_open_runs(real, campaign, runs, &count, e) : -EINVAL;

	*html_path = NULL;
	if (!rc) {
		const mode_t mask = run_mode_limit(run_mode_of(runs, count));

		*html_path = fs_path("%s/derived/report.html", real);
		rc = make_all(real, campaign, runs, count, *html_path, e);
		umask(mask);
	}
	while (count)
		run_close(&runs[--count]);
	free(runs);
	json_decref(campaign);
	free(real);
	free(path);
	return rc;
}
