#include "report/run_page.h"

#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "report/figure_overlay.h"
#include "report/html_answer.h"
#include "report/html_causes.h"
#include "report/html_claims.h"
#include "report/html_machine.h"
#include "report/html_notes.h"
#include "report/html_numbers.h"
#include "report/html_points.h"
#include "report/html_repeat.h"

#define MANY	       50 /* number of points for which an overview is too narrow */
#define PAIRS_IN_SIGHT 4  /* the others are collapsed */

static void write_head(const struct page *p)
{
	const json_t *run = p->report->runs[0].run->run;

	html_head(p, html_string(run, "title", html_string(run, "name", "kblat")));
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
     "The ratio of each case of a claim, with its interval. Shaded: the claim's bounds. Crosses: cases that fail or "
     "are too close to call.",
     4},
    {"rate", "Rates",
     "Rings: the maximum of a line. Squares: half of it, with the size at which it is reached. Numbers at dots: the "
     "depth.",
     4},
    {"shares", "Shares of the flows",
     "The share of the bytes that each flow moved while all were under way: the mean of the repetitions, and their "
     "range. Dashed: an equal share.",
     4},
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
	const json_t *run = p->report->runs[0].run->run;

	html_begin_foot(p);
	html_printf(p, "Measured with kblat ");
	html_text(p, html_string(run, "version", "?"));
	html_printf(p, " (");
	html_text(p, html_string(run, "commit", "commit unknown"));
	html_printf(p,
		    "). This page and its figures are derived from the run directory and can be generated again with "
		    "<code>kblat report</code>.");
	html_end_foot(p);
}

void run_page_write(const struct page *p)
{
	static void (*const sections[])(const struct page *) = {
	    write_head,	    html_answers,      html_claims,    html_numbers,   html_causes, html_notes,
	    write_overview, write_comparisons, write_overlays, write_patterns, html_points, html_machines,
	    html_changes,   html_repeat,       html_specs,     write_end,
	};

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		sections[i](p);
}
