#include "report/chart.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"
#include "report/escape.h"

void chart_series(struct chart *c, char *label)
{
	c->series = grow_or_abort(c->series, c->series_count, sizeof(*c->series));
	c->series[c->series_count++] = label;
	c->longest = strlen(label) > c->longest ? strlen(label) : c->longest;
}

/* --- the table --- */

static bool is_empty(const struct table *t, size_t row)
{
	for (size_t c = 0; c < t->columns; c++)
		if (t->cell[c][row].kind != CELL_NONE)
			return false;
	return true;
}

static void write_value(FILE *out, const struct table_cell *cell)
{
	if (cell->kind == CELL_TEXT)
		escape_tsv(out, cell->text);
	else if (cell->kind == CELL_COUNT)
		fprintf(out, "%" PRId64, cell->count);
	else if (cell->kind == CELL_NUMBER && !isnan(cell->number))
		fprintf(out, "%.6g", cell->number);
}

static void write_rows(FILE *out, const struct table *t)
{
	for (size_t c = 0; c < t->columns; c++) {
		fputs(c ? "\t" : "", out);
		escape_tsv(out, t->column[c].key);
	}
	fputc('\n', out);
	for (size_t row = 0; row < t->rows; row++) {
		for (size_t c = 0; c < t->columns && !is_empty(t, row); c++) {
			fputs(c ? "\t" : "", out);
			write_value(out, &t->cell[c][row]);
		}
		fputc('\n', out);
	}
}

/* --- the variables --- */

static void set_series(struct figures *f, const struct chart *c)
{
	if (!c->series_count)
		return;
	figure_set_array(f, "lines", c->series_count);
	for (size_t i = 0; i < c->series_count; i++)
		figure_set_item(f, "lines", i, c->series[i]);
	figure_set_count(f, "line_count", c->series_count);
}

static void set_axis(struct figures *f, const struct chart *c)
{
	if (!c->key)
		return;
	figure_set_values(f, "labels", c->key, c->values, c->value_count);
	fprintf(f->script, "points = %zu\nrotate = %d\n", c->value_count, c->room < CHART_UPRIGHT);
}

static void set_size(struct figures *f, const struct chart *c)
{
	size_t rows = c->series_count ? figure_set_key(f, c->width, c->entries, c->longest) : 1;

	fprintf(f->script, "width = %zu\nheight = %zu\n", c->width,
		rows ? c->height + (rows - 1) * c->key_row : c->height - c->key_row);
}

static void chart_free(struct chart *c)
{
	for (size_t i = 0; i < c->series_count; i++)
		free(c->series[i]);
	free(c->series);
	free(c->title);
	table_free(&c->rows);
}

int chart_add(struct figures *f, const struct report *r, struct chart *c, chart_variables *set, const void *what,
	      struct err *e)
{
	FILE *table = figure_begin(f, c->kind, c->point, c->name, c->text, e);

	if (table) {
		f->items[f->count - 1].shows_text = c->shows_text;
		write_rows(table, &c->rows);
		figure_set_title(f, r, "%s", c->title);
		set_series(f, c);
		set_axis(f, c);
		set_size(f, c);
		fprintf(f->script, "invalid_count = %zu\n", c->invalid);
		set(f, what);
	}
	chart_free(c);
	return figure_end(f, table, e);
}
