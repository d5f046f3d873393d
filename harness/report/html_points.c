#include "report/html_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "files/rundir/rep.h"
#include "judge/analysis/param.h"
#include "report/escape.h"
#include "report/missed_steps.h"

#define OPEN_POINTS 4 /* if there are more, their histograms would push everything else out of sight */
#define VALUE_MAX   256

char *html_point_caption(const struct page *p, const struct report_point *point, const char *flow)
{
	const char *run = p->report->run_count > 1 ? p->report->runs[point->run].label : "";

	return fs_path("Point %s%s%u%s%s: %s.", run, *run ? " " : "", point->id, *flow ? ", " : "", flow, point->label);
}

/* --- histograms and percentiles --- */

static void write_figure(const struct page *p, const struct figure *f)
{
	char *caption = fs_path("%s%s%s.", strcmp(f->kind, "histogram") ? "Percentiles" : "Histogram",
				*f->flow ? " of " : "", f->flow);

	html_figure(p, f, caption, "");
	free(caption);
}

static void write_no_histogram(const struct page *p, const struct report_point *point)
{
	char *caption = html_point_caption(p, point, "");

	html_printf(p, "<p class=\"soft\">");
	html_text(p, caption);
	html_printf(p, " Nothing was measured.</p>\n");
	free(caption);
}

/* The histogram of each flow, and its percentiles. */
static void write_figures_of(const struct page *p, const struct report_point *point)
{
	size_t drawn = 0;

	html_printf(p, "<div class=\"grid\">\n");
	for (size_t i = 0; i < p->figures->count; i++) {
		const struct figure *f = &p->figures->items[i];

		if (f->point != point || (strcmp(f->kind, "histogram") != 0 && strcmp(f->kind, "percentiles") != 0))
			continue;
		write_figure(p, f);
		drawn++;
	}
	if (!drawn)
		write_no_histogram(p, point);
	html_printf(p, "</div>\n");
}

/* --- raw columns --- */

/* The directory of a point's run, relative to the page. */
static char *link_to_run(const struct page *p, const struct report_point *point)
{
	const char *first = p->report->runs[0].run->path, *path = p->report->runs[point->run].run->path;
	const char *name = strrchr(path, '/') + 1;
	bool beside = !strncmp(first, path, (size_t)(name - path)) && !strchr(first + (name - path), '/');

	if (!point->run)
		return fs_path("..");
	return beside ? fs_path("../../%s", name) : fs_path("%s", path);
}

static void write_column(const struct page *p, const char *link, const char *folder, const char *column)
{
	html_printf(p, " <a href=\"");
	escape_url(p->out, link);
	html_printf(p, "/%s.npy\">%s%s%s</a>", column, folder, *folder ? " " : "", column);
}

/* The columns of the first existing repetition. */
static void write_columns_of(const struct page *p, const struct report_point *point, const char *run,
			     const struct layout_flow *flow, unsigned rep)
{
	char *link = layout_rep_dir(run, point->id, rep, flow->name);
	char *dir = layout_rep_dir(p->report->runs[point->run].run->path, point->id, rep, flow->name);

	for (unsigned i = 0; i < flow->column_count; i++) {
		char *path = fs_path("%s/%s.npy", dir, flow->columns[i]);

		if (!fs_is_missing(path))
			write_column(p, link, flow->name, flow->columns[i]);
		free(path);
	}
	free(dir);
	free(link);
}

static void write_columns(const struct page *p, const struct report_point *point)
{
	char *run = link_to_run(p, point), *link = layout_point_dir(run, point->id);
	struct err ignored = ERR_INIT;
	unsigned *reps = NULL;
	size_t count = 0;

	html_printf(p, "<p>Raw columns: <a href=\"");
	escape_url(p->out, link);
	html_printf(p, "/\">points/%04u</a>", point->id);
	if (!rep_list(p->report->runs[point->run].run->path, point->id, &reps, &count, &ignored) && count) {
		html_printf(p, "; those of repetition %u:", reps[0]);
		for (size_t i = 0; i < point->layout.flow_count; i++)
			write_columns_of(p, point, run, &point->layout.flows[i], reps[0]);
	}
	html_printf(p, "</p>\n");
	free(reps);
	free(link);
	free(run);
}

/* --- repeating --- */

/* The settings that distinguish this point from the others of its run, as for --only: {"size": "32B"}. */
static json_t *filters_of(const struct report *r, const struct report_point *point)
{
	json_t *filters = json_object();
	char key[VALUE_MAX], value[VALUE_MAX];

	for (size_t i = 0; i < r->varying.count; i++) {
		const json_t *setting = json_object_get(point->params, r->varying.key[i]);
		enum unit unit = param_name_unit(r->varying.key[i], key, sizeof(key));

		if (!json_object_get(r->runs[point->run].varying, r->varying.key[i]))
			continue;
		if (json_is_string(setting))
			json_object_set(filters, key, (json_t *)setting);
		else if (setting && !json_is_null(setting))
			json_object_set_new(filters, key,
					    json_string(param_value_text(setting, unit, value, sizeof(value))));
	}
	return filters;
}

static void write_command(const struct page *p, const struct report_point *point)
{
	json_t *filters = filters_of(p->report, point);

	html_printf(p, "<p>To measure this point again:</p>\n<pre>");
	html_repeat_point(p, &p->report->runs[point->run], filters);
	html_printf(p, "</pre>\n");
	json_decref(filters);
}

/* --- the section --- */

static bool has_pacer(const struct report *r)
{
	struct missed_steps steps;

	for (size_t i = 0; i < r->leading_count; i++)
		if (missed_steps_of(r->leading[i].point, r->leading[i].series->flow, &steps))
			return true;
	return false;
}

static void write_point_section(const struct page *p, const struct report_point *point)
{
	char *caption = html_point_caption(p, point, "");

	html_printf(p, "<details%s><summary><h3>", p->report->count <= OPEN_POINTS ? " open" : "");
	html_text(p, caption);
	html_printf(p, "</h3></summary>\n<div id=\"%s\">\n", point->name);
	write_figures_of(p, point);
	write_columns(p, point);
	write_command(p, point);
	html_printf(p, "</div>\n</details>\n");
	free(caption);
}

void html_points(const struct page *p)
{
	html_printf(
	    p,
	    "<section>\n<h2>Points</h2>\n<p class=\"soft\">For each point: its histogram%s, its percentiles up to the "
	    "slowest message, its raw columns, and the command that measures it again. Counts have a logarithmic axis; "
	    "the red line is the median of "
	    "the first series.%s</p>\n",
	    model_has_flows(p->report, NULL) ? "s (one for each flow)" : "",
	    has_pacer(p->report) ? " Of the steps that were due, <i>missing in</i> is the share without a sample "
				   "at the source (missed by the pacer, or not sent), <i>missing out</i> that "
				   "without one at the sink; <i>not transmitted</i> is the share of the samples "
				   "sent that never arrived."
				 : "");
	for (size_t i = 0; i < p->report->count; i++)
		write_point_section(p, &p->report->points[i]);
	html_printf(p, "</section>\n");
}
