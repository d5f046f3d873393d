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
#include "report/html_repeat.h"
#include "report/missed_steps.h"

#define MANY 50 /* points that an overview is too narrow for */

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
	html_figure(p, f, "The dot is the median, the box reaches from P10 to P90, the line up to p99.",
		    p->report->count > MANY ? " class=\"overview broad\"" : " class=\"overview\"");
	html_printf(p, "</section>\n");
}

static char *caption_of(const struct page *p, const struct report_point *point, const char *flow)
{
	const char *run = p->report->run_count > 1 ? p->report->runs[point->run].label : "";

	return fs_path("Point %s%s%u%s%s: %s.", run, *run ? " " : "", point->id, *flow ? ", " : "", flow, point->label);
}

/* Kinds that have a section of their own. */
static const struct {
	const char *kind, *heading, *caption;
} kinds[] = {
    {"claim", "Claims along a setting",
     "The ratio of each case of a claim, with its interval; shaded: within the claim's bounds; crossed out: what does "
     "not "
     "hold, or is too close to say."},
    {"rate", "Rates",
     "Rings: the most of a line; squares: half of it, with the size at which it is reached. Where dots are numbered: "
     "the "
     "depth."},
    {"shares", "Shares of the flows",
     "What part of the bytes each flow moved while all were under way: the mean of the repetitions, and their range. "
     "The dashed line is an even share."},
    {"axis", "Against a setting", "Medians; the bars reach from P10 to P90."},
    {"surface", "Surfaces", "Medians over two settings."},
    {"sequence", "In the order of messages",
     "Of points whose latencies repeat with the number of the message: the first repetition, with a line after each "
     "period."},
    {"fold", "Folded by the period", "The median of each phase, P10 to P90, and in red what stands out."},
};

/* One about a point says which. */
static void write_figure_of_kind(const struct page *p, const struct figure *f, const char *caption)
{
	char *of = f->point ? caption_of(p, f->point, f->flow) : fs_path("%s", "");
	char *text = fs_path("%s%s%s", of, *of ? " " : "", caption);

	html_figure(p, f, text, " class=\"overview broad\"");
	free(text);
	free(of);
}

static void write_kind(const struct page *p, size_t which)
{
	bool begun = false;

	for (size_t i = 0; i < p->figures->count; i++) {
		const struct figure *f = &p->figures->items[i];

		if (strcmp(f->kind, kinds[which].kind) != 0)
			continue;
		if (!begun)
			html_printf(p, "<section>\n<h2>%s</h2>\n", kinds[which].heading);
		begun = true;
		write_figure_of_kind(p, f, kinds[which].caption);
	}
	if (begun)
		html_printf(p, "</section>\n");
}

static void write_kinds(const struct page *p)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		write_kind(p, i);
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
			    p, "<section>\n<h2>Pairs</h2>\n<p class=\"soft\">Points that differ in one "
			       "setting with two values, in one histogram; the red line is the median of the "
			       "first, numbers in the box are in the order of the key.</p>\n<div class=\"grid\">\n");
		html_figure(p, f, f->text, "");
	}
	if (!drawn)
		return;
	html_printf(p, "</div>\n");
	if (drawn < count)
		html_printf(p, "<p class=\"soft\">The first %zu of %zu pairs.</p>\n", drawn, count);
	html_printf(p, "</section>\n");
}

static void write_histogram(const struct page *p, const struct figure *f)
{
	char *caption = caption_of(p, f->point, f->flow);

	html_figure(p, f, caption, "");
	free(caption);
}

static void write_no_histogram(const struct page *p, const struct report_point *point)
{
	char *caption = caption_of(p, point, "");

	html_printf(p, "<p class=\"soft\">");
	html_text(p, caption);
	html_printf(p, " Nothing was measured.</p>\n");
	free(caption);
}

/* Of each of its flows. */
static void write_histograms_of(const struct page *p, const struct report_point *point)
{
	size_t drawn = 0;

	html_printf(p, "<div id=\"%s\">\n", point->name);
	for (size_t i = 0; i < p->figures->count; i++) {
		const struct figure *f = &p->figures->items[i];

		if (f->point != point || strcmp(f->kind, "histogram") != 0)
			continue;
		write_histogram(p, f);
		drawn++;
	}
	if (!drawn)
		write_no_histogram(p, point);
	html_printf(p, "</div>\n");
}

static bool has_pacer(const struct report *r)
{
	struct missed_steps steps;

	for (size_t i = 0; i < r->leading_count; i++)
		if (missed_steps_of(r->leading[i].point, r->leading[i].series->flow, &steps))
			return true;
	return false;
}

static void write_histograms(const struct page *p)
{
	html_printf(
	    p,
	    "<section>\n<h2>Histograms</h2>\n<p class=\"soft\">One for each point%s; counts are on a logarithmic "
	    "axis, the red line is the median of the first series.%s</p>\n<div class=\"grid\">\n",
	    model_has_flows(p->report) ? " and flow" : "",
	    has_pacer(p->report)
		? " Of the steps that were due, <i>missing in</i> is the share without a sample at the source (missed "
		  "by the pacer, or not sent), <i>missing out</i> that without one at the sink; <i>not "
		  "transmitted</i> is the share of the samples sent that never arrived."
		: "");
	for (size_t i = 0; i < p->report->count; i++)
		write_histograms_of(p, &p->report->points[i]);
	html_printf(p, "</div>\n</section>\n");
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
	html_printf(
	    p, "). This page and its figures are derived from the run directory and can be made again with <code>kblat "
	       "report</code>.");
	html_end_foot(p);
}

void run_page_write(const struct page *p)
{
	static void (*const sections[])(const struct page *) = {
	    write_head,	   html_answers,   html_claims, html_numbers,	html_causes,
	    html_notes,	   write_overview, write_kinds, write_overlays, write_histograms,
	    html_machines, html_changes,   html_repeat, html_specs,	write_end,
	};

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		sections[i](p);
}
