#include "report/history_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/err.h"
#include "common/fs.h"
#include "compare/compare_join.h"
#include "compare/history.h"
#include "report/answer_page.h"
#include "report/derived.h"
#include "report/escape.h"
#include "rundir/flows.h"
#include "rundir/run_mode.h"

#define WIDTH_MIN 800
#define WIDTH_MAX 2400
#define SIDES	  110
#define ROOM	  26 /* pixels per build */
#define HEIGHT	  460
#define LABELS	  200 /* more are unreadable */

/* --- figures --- */

static void builds_table(FILE *table, const json_t *point)
{
	const json_t *build;
	size_t i;

	fputs("x\tvalue\tlevel\tkernel\tboot\tstarted_utc\n", table);
	json_array_foreach (json_object_get(point, "builds"), i, build) {
		const json_t *value = json_object_get(build, "value"), *level = json_object_get(build, "level");

		fprintf(table, "%zu\t", i + 1);
		if (json_is_number(value))
			fprintf(table, "%.10g\t%.10g\t", json_number_value(value), json_number_value(level));
		else
			fputs("\t\t", table);
		escape_tsv(table, html_string(build, "kernel", ""));
		fputc('\t', table);
		escape_tsv(table, html_string(build, "boot", ""));
		fputc('\t', table);
		escape_tsv(table, html_string(build, "started_utc", ""));
		fputc('\n', table);
	}
}

/* The name of the kernel if it differs from that of the previous build. */
static void history_labels(struct figures *f, const json_t *builds)
{
	size_t n = json_array_size(builds);
	const char *last = "";

	figure_set_array(f, "labels", n ? n : 1);
	for (size_t i = 0; i < n; i++) {
		const char *kernel = html_string(json_array_get(builds, i), "kernel", "");

		figure_set_item(f, "labels", i, strcmp(kernel, last) && n <= LABELS ? kernel : "");
		last = kernel;
	}
	fprintf(f->script, "points = %zu\n", n);
}

static void set_changes(struct figures *f, const json_t *changes)
{
	size_t n = json_array_size(changes);
	char text[64];

	figure_set_array(f, "change_at", n + 1);
	figure_set_array(f, "change_text", n + 1);
	for (size_t i = 0; i < n; i++) {
		const json_t *change = json_array_get(changes, i);

		figure_set_item_number(f, "change_at", i,
				       (double)json_integer_value(json_object_get(change, "at")) + 0.5);
		snprintf(text, sizeof(text), "%+.2f %%", json_number_value(json_object_get(change, "effect_percent")));
		figure_set_item(f, "change_text", i, text);
	}
	fprintf(f->script, "changes = %zu\n", n);
}

static void history_range(struct figures *f, const json_t *point)
{
	double least = INFINITY, most = -INFINITY;
	const json_t *build;
	size_t i;

	json_array_foreach (json_object_get(point, "builds"), i, build) {
		const json_t *value = json_object_get(build, "value");

		if (json_is_number(value)) {
			least = fmin(least, json_number_value(value));
			most = fmax(most, json_number_value(value));
		}
	}
	figure_set_range(f, html_string(point, "unit", ""), least, most, 2);
}

static size_t width_for(size_t builds)
{
	size_t width = SIDES + ROOM * builds;

	return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
}

/* "history-0003", or for a flow "history-0003-small". */
static char *history_name(const json_t *point)
{
	const char *metric = html_string(point, "metric", "");
	int flow = (int)(flows_bare_key(metric) - metric);

	return fs_path("history-%04lld%s%.*s", (long long)json_integer_value(json_object_get(point, "id")),
		       flow ? "-" : "", flow ? flow - 1 : 0, metric);
}

static int history_add_point(struct figures *f, const json_t *history, const json_t *point, struct err *e)
{
	json_int_t id = json_integer_value(json_object_get(point, "id"));
	const char *label = html_string(point, "label", "");
	FILE *table =
	    figure_begin(f, "history", NULL, history_name(point),
			 fs_path("Builds in order, point %lld, with the levels between changes", (long long)id), e);
	char *title;

	if (!table)
		return figure_end(f, table, e);
	builds_table(table, point);
	title = figure_one_line(fs_path("%s, point %lld%s%s: %s of %s, one value a %s",
					html_string(history, "experiment", "?"), (long long)id, *label ? ": " : "",
					label, compare_quantity_label(html_string(history, "quantity", "")),
					html_string(point, "metric", ""), html_string(history, "unit", "")),
				FIGURE_TITLE_MAX);
	figure_set(f, "title", title);
	free(title);
	history_labels(f, json_object_get(point, "builds"));
	set_changes(f, json_object_get(point, "changes"));
	history_range(f, point);
	fprintf(f->script, "width = %zu\nheight = %d\n", width_for(json_array_size(json_object_get(point, "builds"))),
		HEIGHT);
	return figure_end(f, table, e);
}

/* A point without values has no figure. */
static bool has_values(const json_t *point)
{
	const json_t *build;
	size_t i;

	json_array_foreach (json_object_get(point, "builds"), i, build)
		if (json_is_number(json_object_get(build, "value")))
			return true;
	return false;
}

static int history_add_points(struct figures *f, const void *history, struct err *e)
{
	const json_t *point;
	size_t i;
	int rc = 0;

	json_array_foreach (json_object_get(history, "points"), i, point)
		if (!rc && has_values(point))
			rc = history_add_point(f, history, point, e);
	return rc;
}

/* --- the page --- */

static void write_history(const struct page *p, const void *history)
{
	html_printf(p, "<div class=\"answer part\"><p>");
	html_text(p, html_string(history, "answer", ""));
	html_printf(p, ".</p></div>\n");
	html_no_figures(p);
	for (size_t i = 0; i < p->figures->count; i++)
		html_figure(p, &p->figures->items[i],
			    "Lines: the levels between changes (PELT): a hint, not a verdict.",
			    " class=\"overview broad\"");
	html_printed(p, "Builds", history_table, history);
}

int history_page_make(const char *dir, const struct compare_runs *runs, const json_t *history, char **html_path,
		      struct err *e)
{
	char *title = fs_path("%s: history", html_string(history, "experiment", "?"));
	const struct answer_page page = {
	    .dir = dir,
	    .json_name = "history.json",
	    .json = history,
	    .title = title,
	    .foot = "Made by <code>kblat history</code>; the numbers are in history.json.",
	    .draw = history_add_points,
	    .write = write_history,
	    .arg = history,
	};
	const mode_t mask = run_mode_limit(compare_runs_mode(runs));
	int rc = derived_directory(dir, e);

	*html_path = NULL;
	if (!rc)
		rc = answer_page_make(&page, html_path, e);
	umask(mask);
	free(title);
	return rc;
}
