#include "knobs/knobs_figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "knobs/knobs_judge.h"
#include "knobs/knobs_table.h"

#define WIDTH  900
#define ROW    34 /* pixels */
#define ABOVE  90
#define BELOW  72
#define LABEL  34
#define FAR    1e6
#define CUT_AT 2 /* intervals are cut off at this multiple of the largest effect */

static const char *const ways[] = {"alone", "without"};

static const json_t *comparison_of(const json_t *result, const json_t *knob, size_t way)
{
	if (knob)
		return knobs_comparison(result, json_text(knob, "id"), ways[way]);
	return way ? NULL : knobs_comparison(result, "", "whole");
}

/* Effect, low and high in per cent (NaN: there is none), and whether the interval is joint.
 * Infinite intervals end far away. */
static void row_numbers(const json_t *comparison, double *number)
{
	const json_t *point, *q = knobs_table_telling(comparison, &point);

	number[0] = number[1] = number[2] = number[3] = NAN;
	if (!q)
		return;
	number[0] = json_number_or_nan(q, "effect_percent");
	number[3] = knobs_table_interval(q, &number[1], &number[2]) ? 0 : 1;
	number[1] = isnan(number[1]) ? -FAR : number[1];
	number[2] = isnan(number[2]) ? FAR : number[2];
}

static char *row_label(const json_t *result, const json_t *knob)
{
	const json_t *point, *q = knobs_table_telling(comparison_of(result, knob, 0), &point);
	char *text = fs_path("%s%s%s", knob ? json_text(knob, "name") : "the whole", q ? ": " : "",
			     q ? compare_quantity_label(json_text(q, "quantity")) : "");

	return figure_one_line(text, LABEL);
}

/* NULL, for the whole profile, followed by the knobs that were tested. */
static const json_t **rows_of(const json_t *knobs, size_t *count)
{
	const json_t *all = json_object_get(knobs, "knobs"), *knob;
	const json_t **rows = or_abort(calloc(json_array_size(all) + 1, sizeof(*rows)));
	size_t i;

	*count = 1;
	json_array_foreach (all, i, knob)
		if (json_is_true(json_object_get(knob, "tested")))
			rows[(*count)++] = knob;
	return rows;
}

static void write_knob_rows(FILE *table, const json_t *result, const json_t **rows, size_t count, double *most)
{
	fputs("row\talone\talone_low\talone_high\talone_joint\twithout\twithout_low\twithout_high\twithout_joint\n",
	      table);
	*most = 1;
	for (size_t i = 0; i < count; i++) {
		fprintf(table, "%zu", i + 1);
		for (size_t way = 0; way < 2; way++) {
			double number[4];

			row_numbers(comparison_of(result, rows[i], way), number);
			*most = fmax(*most, fabs(number[0]));
			for (size_t n = 0; n < 4; n++)
				fprintf(table, "\t%.4f", number[n]);
		}
		fputc('\n', table);
	}
}

static int add_knobs_figure(struct figures *f, const json_t *knobs, const json_t **rows, size_t count, struct err *e)
{
	const json_t *result = json_object_get(knobs, "result");
	FILE *table = figure_begin(f, "knobs", NULL, fs_path("knobs"),
				   fs_path("The effect of each knob alone and when it is left out, with intervals"), e);
	double most, margin = json_number_or_nan(result, "least_margin_percent");
	char *title;

	if (!table)
		return figure_end(f, table, e);
	write_knob_rows(table, result, rows, count, &most);
	title = figure_one_line(fs_path("%s: the knobs of %s", json_text(knobs, "name"), json_text(knobs, "profile")),
				FIGURE_TITLE_MAX);
	figure_set(f, "title", title);
	free(title);
	figure_set_array(f, "labels", count);
	for (size_t i = 0; i < count; i++) {
		char *label = row_label(result, rows[i]);

		figure_set_item(f, "labels", i, label);
		free(label);
	}
	figure_set_number(f, "reach", fmax(most * CUT_AT > 100 ? 1.3 * most : fmin(most * CUT_AT, 100), 2 * margin));
	figure_set_number(f, "margin", margin);
	fprintf(f->script, "rows = %zu\nwidth = %d\nheight = %zu\n", count, WIDTH, ABOVE + BELOW + count * ROW);
	return figure_end(f, table, e);
}

int knobs_figure_add(struct figures *f, const json_t *knobs, struct err *e)
{
	const json_t *result = json_object_get(knobs, "result"), *point;
	size_t count;
	const json_t **rows = rows_of(knobs, &count);
	int rc = 0;

	if (knobs_table_telling(knobs_comparison(result, "", "whole"), &point))
		rc = add_knobs_figure(f, knobs, rows, count, e);
	free(rows);
	return rc;
}
