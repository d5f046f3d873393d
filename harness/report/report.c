#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/trust.h"
#include "files/rundir/run_mode.h"
#include "judge/claims/claims.h"
#include "report/derived.h"
#include "report/figure.h"
#include "report/gnuplot.h"
#include "report/html.h"
#include "report/html_blocks.h"
#include "report/model.h"
#include "report/run_figures.h"

#define MANY	       50 /* number of points for which an overview is too narrow */
#define PAIRS_IN_SIGHT 4  /* the others are collapsed */

/* What will become a page once its figures are drawn. */
struct report_draft {
	struct report report;
	struct figures figures;
	const struct claim_verdicts *verdicts;
	char *dir;
	struct err drawing; /* why there are no figures */
	int drawn;
	mode_t mode; /* of all files */
};

static void free_draft(struct report_draft *d)
{
	figures_free(&d->figures);
	model_free(&d->report);
	free(d->dir);
	free(d);
}

/* --- the page --- */

/* A text that is neither missing nor empty, or another one. */
static const char *text_or(const char *text, const char *otherwise)
{
	return text && *text ? text : otherwise;
}

static void write_head(const struct page *p)
{
	const struct report *r = p->report;
	const struct run_record *record = r->runs[0].record;
	char *title = r->of_experiments ? fs_path("%zu experiments: %s to %s", r->run_count, r->runs[0].label,
						  r->runs[r->run_count - 1].label)
					: fs_path("%s", text_or(record->title, text_or(record->name, "kblat")));

	html_head(p, title);
	free(title);
}

/* --- figures --- */

static void write_overview(const struct page *p)
{
	const struct figure *f = figure_find(p->figures, "overview", NULL);

	if (!f)
		return;
	html_printf(p, "<section>\n<h2>All points</h2>\n");
	html_figure(p, f, "Dots: medians. Boxes: P10 to P90. Lines: up to p99.",
		    p->report->count > MANY ? " class=\"overview broad\"" : " class=\"overview\"");
	html_printf(p, "</section>\n");
}

/* Kinds that have a section of their own. Figures after the first `in_sight` of a section are collapsed. */
struct kind {
	const char *kind, *heading, *caption;
	size_t in_sight;
};

static const struct kind comparisons[] = {
    {"claim", "Claims along a setting",
     "The ratio of each case of a claim, with its interval. Shaded: the claim's bounds. Crosses: cases that fail. "
     "Rings: cases that are not decided, or of a claim that is not judged.",
     4},
    {"rate", "Rates",
     "Rings: the maximum of a line. Squares: half of it, with the size at which it is reached. Numbers at dots: the "
     "depth.",
     4},
    {"shares", "Shares of the flows",
     "The share of the bytes that each flow moved while all were under way: the mean of the repetitions, and their "
     "range. Dashed: an equal share.",
     4},
    {"stages", "Stages",
     "The mean latency, split by the kernel's stamps: through the stack to the device's queue, in that queue, from "
     "driver "
     "to driver, and up to the reader.",
     1},
    {"axis", "Against a setting", "Medians; the bars reach from P10 to P90.", 4},
    {"surface", "Surfaces", "Medians over two settings.", 4},
    {NULL, NULL, NULL, 0},
};

static const struct kind patterns[] = {
    {"sequence", "In the order of messages",
     "Points whose latencies repeat with the number of messages: the first repetition, with a line after each period.",
     1},
    {"fold", "Folded by the period", "The median of each phase, with P10 to P90. Red: phases that stand out.", 2},
    {NULL, NULL, NULL, 0},
};

/* The caption of a figure about a point names it. */
static void write_figure_of_kind(const struct page *p, const struct figure *f, const char *caption)
{
	char *of = f->point ? html_point_caption(p, f->point, f->flow) : fs_path("%s", "");
	char *text = fs_path("%s%s%s", of, *of ? " " : "", caption);

	html_figure(p, f, text, " class=\"overview broad\"");
	free(text);
	free(of);
}

static void write_kind(const struct page *p, const struct kind *kind)
{
	size_t drawn = 0;

	for (size_t i = 0; i < p->figures->count; i++) {
		const struct figure *f = &p->figures->items[i];

		if (strcmp(f->kind, kind->kind) != 0)
			continue;
		if (!drawn)
			html_printf(p, "<section>\n<h2>%s</h2>\n", kind->heading);
		if (drawn++ == kind->in_sight)
			html_printf(p, "<details><summary>Further figures</summary>\n");
		write_figure_of_kind(p, f, kind->caption);
	}
	if (drawn)
		html_printf(p, "%s</section>\n", drawn > kind->in_sight ? "</details>\n" : "");
}

static void write_kinds(const struct page *p, const struct kind *kinds)
{
	for (const struct kind *kind = kinds; kind->kind; kind++)
		write_kind(p, kind);
}

static void write_comparisons(const struct page *p)
{
	write_kinds(p, comparisons);
}

static void write_patterns(const struct page *p)
{
	write_kinds(p, patterns);
}

static void write_overlays(const struct page *p)
{
	size_t drawn = 0, count = figure_overlay_count(p->report);

	for (size_t i = 0; i < p->figures->count; i++) {
		const struct figure *f = &p->figures->items[i];

		if (strcmp(f->kind, "overlay") != 0)
			continue;
		if (!drawn++)
			html_printf(
			    p, "<section>\n<h2>Pairs</h2>\n<p class=\"soft\">Two points that differ in one "
			       "setting, or in several that change together, in one histogram. The red line is the "
			       "median of the first; the box has the numbers of both in the order of the "
			       "legend.</p>\n<div class=\"grid\">\n");
		if (drawn == PAIRS_IN_SIGHT + 1)
			html_printf(p, "</div>\n<details><summary>Further pairs</summary>\n<div class=\"grid\">\n");
		html_figure(p, f, f->text, "");
	}
	if (!drawn)
		return;
	html_printf(p, "</div>\n%s", drawn > PAIRS_IN_SIGHT ? "</details>\n" : "");
	if (drawn < count)
		html_printf(p, "<p class=\"soft\">The first %zu of %zu pairs.</p>\n", drawn, count);
	html_printf(p, "</section>\n");
}

/* --- the page --- */

static void write_end(const struct page *p)
{
	const struct run_record *record = p->report->runs[0].record;

	html_begin_foot(p);
	html_printf(p, "Measured with kblat ");
	html_text(p, text_or(record->version, "?"));
	html_printf(p, " (");
	html_text(p, text_or(record->commit, "commit unknown"));
	html_printf(p,
		    "). This page and its figures are derived from the run directory and can be generated again with "
		    "<code>kblat report</code>.");
	html_end_foot(p);
}

/* Write the whole page. Write errors are left in the stream. */
static void run_page_write(const struct page *p)
{
	static void (*const sections[])(const struct page *) = {
	    write_head,	    html_answers,      html_claims,    html_numbers,   html_causes, html_notes,
	    write_overview, write_comparisons, write_overlays, write_patterns, html_points, html_machines,
	    html_changes,   html_repeat,       html_specs,     write_end,
	};

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		sections[i](p);
}

static int write_report(const struct report_draft *d, const char *path, struct err *e)
{
	struct page page = {.report = &d->report,
			    .figures = &d->figures,
			    .no_figures = d->drawn ? d->drawing.text : NULL,
			    .claims = d->verdicts,
			    .out = derived_open(path, e)};

	if (page.out)
		run_page_write(&page);
	return derived_close(page.out, path, e);
}

static int (*const figure_kinds[])(struct figures *f, const struct report *r, struct err *e) = {
    figure_overview_add,  figure_claim_add,	  figure_rate_add,    figure_shares_add,
    figure_stages_add,	  figure_axis_add,	  figure_surface_add, figure_overlay_add,
    figure_histogram_add, figure_percentiles_add, figure_pattern_add, figure_tail_add,
};

static int add_figures(struct figures *f, const void *report, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(figure_kinds) / sizeof(figure_kinds[0]); i++)
		rc = figure_kinds[i](f, report, e);
	return rc;
}

static int start_figures(struct report_draft *d, struct gnuplot *g, struct err *e)
{
	char *figures_dir = fs_path("%s/figures", d->dir);
	const mode_t mask = run_mode_limit(d->mode);
	int rc = fs_remove_tree(d->dir, e) ?: fs_mkdirs(d->dir, e);

	if (!rc)
		d->drawn = figures_start(&d->figures, figures_dir, add_figures, &d->report, g, &d->drawing);
	umask(mask);
	free(figures_dir);
	return rc;
}

/* In `dir`, or NULL: derived/ of the first run. */
static struct report_draft *start_in(const char *dir, const struct run *runs, size_t count,
				     const struct claim_verdicts *verdicts, struct gnuplot *g, struct err *e)
{
	struct report_draft *d = or_abort(calloc(1, sizeof(*d)));
	int rc;

	d->verdicts = verdicts;
	d->mode = run_mode_of(runs, count);
	d->dir = dir ? fs_path("%s", dir) : fs_path("%s/derived", runs[0].path);
	rc = model_read(&d->report, runs, count, e);
	d->report.claims = verdicts;
	rc = rc ?: trust_addition(runs[0].path, "write its page", e) ?: start_figures(d, g, e);
	if (!rc)
		return d;
	free_draft(d);
	return NULL;
}

struct report_draft *report_start(const struct run *runs, size_t count, const struct claim_verdicts *verdicts,
				  struct gnuplot *g, struct err *e)
{
	return start_in(NULL, runs, count, verdicts, g, e);
}

/* The page is made even if figures cannot be drawn; the error is returned afterwards. */
int report_finish(struct report_draft *d, struct gnuplot *g, char **html_path, struct err *e)
{
	mode_t mask;
	int rc;

	if (!d->drawn)
		d->drawn = figures_finish(&d->figures, g, &d->drawing);
	*html_path = fs_path("%s/report.html", d->dir);
	mask = run_mode_limit(d->mode);
	rc = write_report(d, *html_path, e);
	umask(mask);
	if (!rc && d->drawn)
		rc = err_set(e, d->drawn, d->drawing.status, NULL, NULL, "%s", d->drawing.text);
	free_draft(d);
	return rc;
}

int report_make_in(const struct run *runs, size_t count, const char *dir, char **html_path, struct err *e)
{
	struct err ignored = ERR_INIT;
	struct report_draft *draft;
	struct gnuplot *g;
	struct claim_verdicts verdicts;
	int rc = -EINVAL;

	*html_path = NULL;
	if (!count)
		return err_set(e, rc, STATUS_USAGE, NULL, "make a report", "no run was given");
	g = gnuplot_open();
	/* A run that was killed has no summary, which judging needs. */
	claims_judge(runs, count, &verdicts, &ignored);
	draft = start_in(dir, runs, count, &verdicts, g, e);
	if (draft)
		rc = report_finish(draft, g, html_path, e);
	claim_verdicts_free(&verdicts);
	gnuplot_close(g);
	return rc;
}

int report_make(const struct run *runs, size_t count, char **html_path, struct err *e)
{
	return report_make_in(runs, count, NULL, html_path, e);
}
