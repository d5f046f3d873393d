#include "report/history_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "files/rundir/flows.h"
#include "files/rundir/run_mode.h"
#include "judge/compare/compare_join.h"
#include "judge/compare/history.h"
#include "report/answer_page.h"
#include "report/escape.h"
#include "report/html.h"

#define WIDTH_MIN 800
#define WIDTH_MAX 2400
#define SIDES	  110
#define ROOM	  26 /* pixels per build */
#define HEIGHT	  460
#define LABELS	  200 /* more are unreadable */

/* --- figures --- */

static void builds_table(FILE *table, const struct history_point *p)
{
	fputs("x\tvalue\tlevel\tkernel\tboot\tstarted_utc\n", table);
	for (size_t i = 0; i < p->build_count; i++) {
		const struct history_build *build = &p->builds[i];

		fprintf(table, "%zu\t", i + 1);
		if (isnan(build->value))
			fputs("\t\t", table);
		else
			fprintf(table, "%.10g\t%.10g\t", build->value, build->level);
		escape_tsv(table, build->kernel);
		fputc('\t', table);
		escape_tsv(table, build->boot);
		fputc('\t', table);
		escape_tsv(table, build->started_utc);
		fputc('\n', table);
	}
}

/* The name of the kernel if it differs from that of the previous build. */
static void history_labels(struct figures *f, const struct history_point *p)
{
	const char *last = "";

	figure_set_array(f, "labels", p->build_count ? p->build_count : 1);
	for (size_t i = 0; i < p->build_count; i++) {
		const char *kernel = p->builds[i].kernel;

		figure_set_item(f, "labels", i, strcmp(kernel, last) && p->build_count <= LABELS ? kernel : "");
		last = kernel;
	}
	figure_set_count(f, "points", p->build_count);
}

static void set_changes(struct figures *f, const struct history_point *p)
{
	char text[64];

	figure_set_array(f, "change_at", p->change_count + 1);
	figure_set_array(f, "change_text", p->change_count + 1);
	for (size_t i = 0; i < p->change_count; i++) {
		const struct history_change *change = &p->changes[i];

		figure_set_item_number(f, "change_at", i, (double)change->at + 0.5);
		snprintf(text, sizeof(text), "%+.2f %%", history_change_percent(change));
		figure_set_item(f, "change_text", i, text);
	}
	figure_set_count(f, "changes", p->change_count);
}

static void history_range(struct figures *f, const struct history_point *p)
{
	double least = INFINITY, most = -INFINITY;

	for (size_t i = 0; i < p->build_count; i++) {
		least = fmin(least, p->builds[i].value);
		most = fmax(most, p->builds[i].value);
	}
	figure_set_range(f, p->unit, least, most, 2);
}

static size_t width_for(size_t builds)
{
	size_t width = SIDES + ROOM * builds;

	return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
}

/* "history-0003", or for a flow "history-0003-small". */
static char *history_name(const struct history_point *p)
{
	int flow = (int)(flows_bare_key(p->metric) - p->metric);

	return fs_path("history-%04lld%s%.*s", (long long)p->id, flow ? "-" : "", flow ? flow - 1 : 0, p->metric);
}

static char *history_title(const struct history *h, const struct history_point *p)
{
	return figure_one_line(fs_path("%s, point %lld%s%s: %s of %s, one value a %s",
				       *h->experiment ? h->experiment : "?", (long long)p->id, *p->label ? ": " : "",
				       p->label, compare_quantity_label(h->quantity), p->metric,
				       compare_unit_name[h->kind]),
			       FIGURE_TITLE_MAX);
}

static int history_add_point(struct figures *f, const struct history *h, const struct history_point *p, struct err *e)
{
	FILE *table =
	    figure_begin(f, "history", NULL, history_name(p),
			 fs_path("Builds in order, point %lld, with the levels between changes", (long long)p->id), e);
	char *title;

	if (!table)
		return figure_end(f, table, e);
	builds_table(table, p);
	title = history_title(h, p);
	figure_set(f, "title", title);
	free(title);
	history_labels(f, p);
	set_changes(f, p);
	history_range(f, p);
	fprintf(f->script, "width = %zu\nheight = %d\n", width_for(p->build_count), HEIGHT);
	return figure_end(f, table, e);
}

/* A point without values has no figure. */
static bool has_values(const struct history_point *p)
{
	for (size_t i = 0; i < p->build_count; i++)
		if (!isnan(p->builds[i].value))
			return true;
	return false;
}

static int history_add_points(struct figures *f, const void *history, struct err *e)
{
	const struct history *h = history;
	int rc = 0;

	for (size_t i = 0; !rc && i < h->point_count; i++)
		if (has_values(&h->points[i]))
			rc = history_add_point(f, h, &h->points[i], e);
	return rc;
}

/* --- the page --- */

static void write_builds(const struct page *p, const struct history *h)
{
	html_printf(p, "<section>\n<h2>Builds</h2>\n");
	for (const struct history_point *of = h->points; of < h->points + h->point_count; of++) {
		struct table t = history_builds_table(of);

		html_printf(p, "<h3>Point %lld%s", (long long)of->id, *of->label ? ": " : "");
		html_text(p, of->label);
		html_printf(p, "</h3>\n<p class=\"soft\">%s of ", compare_quantity_label(h->quantity));
		html_text(p, of->metric);
		html_printf(p, *of->why ? ": " : "");
		html_text(p, of->why);
		html_printf(p, "</p>\n");
		html_table(p, &t, "", true);
		table_free(&t);
	}
	html_printf(p, "</section>\n");
}

static void write_steps(const struct page *p, const struct history *h)
{
	struct table t = history_steps_table(h, false);

	html_printf(p, "<section>\n<h2>Each kernel compared with the one before</h2>\n");
	html_table(p, &t, "", false);
	html_printf(p, "</section>\n");
	table_free(&t);
}

static void write_run(const struct page *p, const struct history_page *run)
{
	html_printf(p, "<li>");
	if (run->link) {
		html_printf(p, "<a href=\"");
		escape_url(p->out, run->link);
		html_printf(p, "\">");
	}
	html_text(p, run->name);
	html_printf(p, "%s", run->link ? "</a>" : " has no page here");
	if (run->why) {
		html_printf(p, ": <strong>it does not verify</strong>: ");
		html_text(p, run->why);
	}
	html_printf(p, "</li>\n");
}

static void write_pages(const struct page *p, const struct history *h)
{
	html_printf(p, "<section>\n<h2>The runs</h2>\n<ul>\n");
	for (size_t i = 0; i < h->page_count; i++)
		write_run(p, &h->pages[i]);
	html_printf(p, "</ul>\n</section>\n");
}

static void write_history(const struct page *p, const void *history)
{
	const struct history *h = history;

	if (h->step_count)
		answer_page_outcome(p, history_outcome(h), h->answer);
	else
		answer_page_verdict(p, "part", "a hint", h->answer);
	html_no_figures(p);
	for (size_t i = 0; i < p->figures->count; i++)
		html_figure(p, &p->figures->items[i],
			    "Lines: the levels between changes (PELT): a hint, not a verdict.",
			    " class=\"overview broad\"");
	if (h->step_count)
		write_steps(p, h);
	write_builds(p, h);
	if (h->page_count)
		write_pages(p, h);
}

int history_page_make(const char *dir, const char *name, const struct compare_runs *runs, const struct history *history,
		      char **html_path, struct err *e)
{
	char *title = fs_path("%s: history", *history->experiment ? history->experiment : "?");
	json_t *json = history_json(history);
	const struct answer_page page = {
	    .dir = dir,
	    .name = name,
	    .json_name = "history.json",
	    .json = json,
	    .title = title,
	    .foot = "Made by <code>kblat history</code>; the numbers are in history.json.",
	    .draw = history_add_points,
	    .write = write_history,
	    .arg = history,
	};
	const mode_t mask = run_mode_limit(compare_runs_mode(runs));
	int rc;

	*html_path = NULL;
	rc = answer_page_make(&page, html_path, e);
	umask(mask);
	free(title);
	json_decref(json);
	return rc;
}
