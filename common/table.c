#include "common/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"

/* --- filling ------------------------------------------------------------------------------------------------------ */

static char *copy(const char *text)
{
	return text ? or_abort(strdup(text)) : NULL;
}

size_t table_add(struct table *t, const struct table_column *column)
{
	struct table_column *c;

	t->column = grow_or_abort(t->column, t->columns, sizeof(*t->column));
	t->cell = grow_or_abort(t->cell, t->columns, sizeof(*t->cell));
	t->cell[t->columns] = or_abort(calloc(t->rows + 1, sizeof(**t->cell)));
	c = &t->column[t->columns];
	*c = *column;
	c->label = copy(column->label ? column->label : "");
	c->key = copy(column->key ? column->key : c->label);
	c->help = copy(column->help);
	if (c->align == TABLE_NUMBER)
		c->align = measure_has_fraction(c->measure) ? TABLE_POINT : TABLE_RIGHT;
	return t->columns++;
}

size_t table_row(struct table *t)
{
	for (size_t c = 0; c < t->columns; c++) {
		t->cell[c] = or_abort(reallocarray(t->cell[c], t->rows + 1, sizeof(**t->cell)));
		t->cell[c][t->rows] = (struct table_cell){.kind = CELL_NONE};
	}
	t->row = grow_or_abort(t->row, t->rows, sizeof(*t->row));
	t->row[t->rows] = (struct table_row){.above = NULL};
	return t->rows++;
}

struct table table_of(const struct table_column *columns, size_t count, size_t rows)
{
	struct table t = {.columns = 0};

	while (t.rows < rows)
		table_row(&t);
	for (size_t i = 0; i < count; i++)
		table_add(&t, &columns[i]);
	return t;
}

void table_free(struct table *t)
{
	for (size_t c = 0; c < t->columns; c++) {
		for (size_t row = 0; row < t->rows; row++) {
			struct table_cell *cell = &t->cell[c][row];
			char *owned[] = {cell->text, cell->unit, cell->help, cell->link, cell->remark};

			for (size_t i = 0; i < sizeof(owned) / sizeof(*owned); i++)
				free(owned[i]);
		}
		free(t->cell[c]);
		free((char *)t->column[c].label);
		free((char *)t->column[c].key);
		free((char *)t->column[c].help);
	}
	for (size_t row = 0; row < t->rows; row++) {
		free(t->row[row].above);
		free(t->row[row].note);
	}
	free(t->cell);
	free(t->column);
	free(t->row);
	*t = (struct table){.columns = 0};
}

static char *formatted(const char *format, va_list ap)
{
	char *text = NULL;
	size_t size;
	FILE *out = or_abort(open_memstream(&text, &size));

	vfprintf(out, format, ap);
	fclose(out);
	return text;
}

/* Put a text made from the arguments after `format` into `*to`, in place of what was there. */
#define SET_FORMATTED(to, format)                                                                                      \
	do {                                                                                                           \
		char **to_ = (to);                                                                                     \
		va_list ap_;                                                                                           \
                                                                                                                       \
		free(*to_);                                                                                            \
		va_start(ap_, format);                                                                                 \
		*to_ = formatted(format, ap_);                                                                         \
		va_end(ap_);                                                                                           \
	} while (0)

static struct table_cell *fill(struct table *t, size_t column, size_t row, enum cell_kind kind)
{
	struct table_cell *cell = &t->cell[column][row];

	cell->kind = kind;
	cell->measure = t->column[column].measure;
	return cell;
}

void table_text(struct table *t, size_t column, size_t row, const char *format, ...)
{
	SET_FORMATTED(&fill(t, column, row, CELL_TEXT)->text, format);
}

void table_verdict(struct table *t, size_t column, size_t row, enum tone tone, const char *text)
{
	struct table_cell *cell = fill(t, column, row, CELL_VERDICT);

	free(cell->text);
	cell->text = copy(text);
	cell->tone = tone;
}

void table_drawing(struct table *t, size_t column, size_t row, const char *markup)
{
	struct table_cell *cell = fill(t, column, row, CELL_DRAWING);

	free(cell->text);
	cell->text = copy(markup);
}

void table_count(struct table *t, size_t column, size_t row, int64_t count)
{
	fill(t, column, row, CELL_COUNT)->count = count;
}

void table_number(struct table *t, size_t column, size_t row, double number)
{
	fill(t, column, row, CELL_NUMBER)->number = number;
}

void table_measure(struct table *t, size_t column, size_t row, enum measure measure, double number)
{
	struct table_cell *cell = fill(t, column, row, CELL_NUMBER);

	cell->number = number;
	cell->measure = measure;
}

void table_in_unit(struct table *t, size_t column, size_t row, double number, const char *unit)
{
	struct table_cell *cell = fill(t, column, row, CELL_NUMBER);

	cell->number = number;
	free(cell->unit);
	cell->unit = copy(unit);
}

void table_help(struct table *t, size_t column, size_t row, const char *format, ...)
{
	SET_FORMATTED(&t->cell[column][row].help, format);
}

void table_link(struct table *t, size_t column, size_t row, const char *format, ...)
{
	SET_FORMATTED(&t->cell[column][row].link, format);
}

void table_remark(struct table *t, size_t column, size_t row, const char *format, ...)
{
	SET_FORMATTED(&t->cell[column][row].remark, format);
}

void table_note(struct table *t, size_t row, const char *format, ...)
{
	SET_FORMATTED(&t->row[row].note, format);
}

void table_above(struct table *t, size_t row, const char *format, ...)
{
	SET_FORMATTED(&t->row[row].above, format);
}

void table_cover(struct table *t, size_t column, size_t row, unsigned rows, unsigned columns)
{
	for (size_t c = column; c < column + columns; c++)
		for (size_t r = row; r < row + rows; r++)
			t->cell[c][r].covered = c != column || r != row;
	t->cell[column][row].rows = rows;
	t->cell[column][row].columns = columns;
}
