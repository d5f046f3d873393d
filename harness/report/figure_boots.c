/*
 * Boots (or runs) of both arms in chronological order, which makes a drift or an outlier visible at
 * a glance.
 */
#include "report/figure_boots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/json.h"
#include "compare/compare_quantity.h"
#include "compare/compare_runs.h"
#include "report/html.h"
#include "rundir/flows.h"

#define WIDTH  900
#define HEIGHT 380

static unsigned arm_number(const json_t *unit)
{
	return !strcmp(html_string(unit, "arm", ""), compare_arm_name[ARM_WITH]) ? 2 : 1;
}

/* One row per run, with the value of its unit. */
static void boots_table(FILE *table, const json_t *units)
{
	const json_t *unit, *run;
	size_t i, k;

	fputs("x\tarm\tvalue\trun\n", table);
	json_array_foreach (units, i, unit)
		json_array_foreach (json_object_get(unit, "runs"), k, run)
			fprintf(table, "%zu\t%u\t%.10g\t%.10g\n", i + 1, arm_number(unit),
				json_number_or_nan(unit, "value"), json_number_value(run));
}

static void boots_range(struct figures *f, const json_t *point, const json_t *quantity)
{
	double least = INFINITY, most = -INFINITY;
	const json_t *unit, *run;
	size_t i, k;

	json_array_foreach (json_object_get(point, "units"), i, unit) {
		json_array_foreach (json_object_get(unit, "runs"), k, run) {
			least = fmin(least, json_number_value(run));
			most = fmax(most, json_number_value(run));
		}
	}
	figure_set_range(f, html_string(quantity, "unit", ""), least, most, 1);
}

/* "BASE: 6.1.0-50-amd64": an arm's name in the key, and its mean. */
static void set_arm(struct figures *f, const json_t *result, const json_t *quantity, enum compare_arm arm)
{
	static const struct {
		const char *key, *name, *level;
	} arms[ARMS] = {{"base", "base_name", "base_level"}, {"with", "with_name", "with_level"}};
	const json_t *kernels = json_object_get(json_object_get(result, arms[arm].key), "kernels");
	const char *kernel = json_string_value(json_array_get(kernels, 0));
	char *text = figure_one_line(fs_path("%s: %s", compare_arm_name[arm], kernel ? kernel : ""), 40);

	figure_set(f, arms[arm].name, text);
	figure_set_number(f, arms[arm].level, json_number_or_nan(quantity, arms[arm].key));
	free(text);
}

static char *boots_name(const json_t *point)
{
	const char *metric = html_string(point, "metric", "");
	int flow = (int)(flows_bare_key(metric) - metric);

	return fs_path("boots-%04lld%s%.*s", (long long)json_integer_value(json_object_get(point, "id")),
		       flow ? "-" : "", flow ? flow - 1 : 0, metric);
}

static int boots_add_point(struct figures *f, const json_t *result, const json_t *point, const json_t *quantity,
			   struct err *e)
{
	long long id = (long long)json_integer_value(json_object_get(point, "id"));
	const char *label = html_string(point, "label", ""), *unit = html_string(result, "unit", "");
	FILE *table = figure_begin(f, "boots", NULL, boots_name(point),
				   fs_path("The %ss of point %lld in order of time, BASE and NEW", unit, id), e);
	char *title;

	if (!table)
		return figure_end(f, table, e);
	boots_table(table, json_object_get(point, "units"));
	title = figure_one_line(fs_path("%s, point %lld%s%s: %s of %s", html_string(result, "experiment", "?"), id,
					*label ? ": " : "", label,
					compare_quantity_label(html_string(quantity, "quantity", "")),
					html_string(point, "metric", "")),
				FIGURE_TITLE_MAX);
	figure_set(f, "title", title);
	free(title);
	figure_set(f, "what", unit);
	set_arm(f, result, quantity, ARM_BASE);
	set_arm(f, result, quantity, ARM_WITH);
	boots_range(f, point, quantity);
	fprintf(f->script, "points = %zu\nwidth = %d\nheight = %d\n", json_array_size(json_object_get(point, "units")),
		WIDTH, HEIGHT);
	return figure_end(f, table, e);
}

int figure_boots_add(struct figures *f, const void *result, struct err *e)
{
	const json_t *point;
	size_t i;
	int rc = 0;

	json_array_foreach (json_object_get(result, "points"), i, point) {
		const json_t *quantity = json_array_get(json_object_get(point, "quantities"), 0);

		if (!rc && quantity && json_array_size(json_object_get(point, "units")))
			rc = boots_add_point(f, result, point, quantity, e);
	}
	return rc;
}
