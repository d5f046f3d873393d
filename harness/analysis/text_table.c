#include "analysis/text_table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"
#include "common/text.h"

#define GAP 2

void text_table_init(struct text_table *t, size_t rows)
{
	*t = (struct text_table){.rows = rows};
}

void text_table_free(struct text_table *t)
{
	for (size_t i = 0; i < t->columns; i++)
		free(t->column[i].cells);
	free(t->column);
	*t = (struct text_table){0};
}

size_t text_table_add(struct text_table *t, const char *title, enum text_align align, unsigned spare)
{
	struct text_column *c;

	t->column = or_abort(realloc(t->column, (t->columns + 1) * sizeof(*t->column)));
	c = &t->column[t->columns];
	*c = (struct text_column){
	    .align = align, .spare = spare, .cells = or_abort(calloc(t->rows + 1, sizeof(*c->cells)))};
	text_clean(title, strlen(title), c->title, sizeof(c->title));
	return t->columns++;
}

void text_table_set(struct text_table *t, size_t column, size_t row, const char *format, ...)
{
	char raw[512], *cell = t->column[column].cells[row];
	size_t end = TEXT_TABLE_CELL - 4;
	va_list ap;

	va_start(ap, format);
	vsnprintf(raw, sizeof(raw), format, ap);
	va_end(ap);
	text_clean(raw, strlen(raw), cell, TEXT_TABLE_CELL);
	if (strlen(raw) < TEXT_TABLE_CELL)
		return;
	/* Not in the middle of a character. */
	while (end && ((unsigned char)cell[end] & 0xc0) == 0x80)
		end--;
	strcpy(cell + end, "...");
}

/* Characters, not bytes. */
static size_t width_of(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

/* Characters from the decimal point on. */
static size_t fraction_of(const struct text_column *c, const char *cell)
{
	const char *point = c->align == ALIGN_POINT ? strchr(cell, '.') : NULL;

	return point ? width_of(point) : 0;
}

static void measure_column(const struct text_table *t, struct text_column *c)
{
	c->whole = c->fraction = 0;
	for (size_t row = 0; row < t->rows; row++) {
		size_t fraction = fraction_of(c, c->cells[row]), whole = width_of(c->cells[row]) - fraction;

		c->whole = whole > c->whole ? whole : c->whole;
		c->fraction = fraction > c->fraction ? fraction : c->fraction;
	}
	if (width_of(c->title) > c->whole + c->fraction)
		c->whole = width_of(c->title) - c->fraction;
}

static size_t total_width(const struct text_table *t)
{
	size_t width = 0;

	for (size_t i = 0; i < t->columns; i++)
		if (!t->column[i].hidden)
			width += (width ? GAP : 0) + t->column[i].whole + t->column[i].fraction;
	return width;
}

/* Hide the least important column; false if there is none to hide. */
static bool hide_one(struct text_table *t)
{
	struct text_column *worst = NULL;

	for (size_t i = 0; i < t->columns; i++)
		if (!t->column[i].hidden && t->column[i].spare && (!worst || t->column[i].spare > worst->spare))
			worst = &t->column[i];
	if (worst)
		worst->hidden = true;
	return worst != NULL;
}

static void pad(size_t n, FILE *out)
{
	fprintf(out, "%*s", (int)n, "");
}

/* Spaces are counted in `*owed` until something follows, so that lines do not end with spaces. */
static void put_cell(const struct text_column *c, const char *text, bool is_title, size_t *owed, FILE *out)
{
	size_t width = width_of(text), all = c->whole + c->fraction, before = 0;

	if (c->align == ALIGN_RIGHT || (c->align == ALIGN_POINT && is_title))
		before = all - width;
	else if (c->align == ALIGN_POINT)
		before = c->whole - (width - fraction_of(c, text));
	if (width) {
		pad(*owed + before, out);
		fputs(text, out);
		*owed = 0;
		before += width;
	} else {
		before = 0;
	}
	*owed += all - before;
}

static void put_line(const struct text_table *t, size_t row, bool is_title, FILE *out)
{
	size_t owed = 0;

	for (size_t i = 0; i < t->columns; i++) {
		const struct text_column *c = &t->column[i];

		if (c->hidden)
			continue;
		put_cell(c, is_title ? c->title : c->cells[row], is_title, &owed, out);
		owed += GAP;
	}
	fputc('\n', out);
}

void text_table_print(struct text_table *t, size_t width, FILE *out)
{
	for (size_t i = 0; i < t->columns; i++)
		measure_column(t, &t->column[i]);
	while (total_width(t) > width && hide_one(t))
		;
	put_line(t, 0, true, out);
	for (size_t row = 0; row < t->rows; row++)
		put_line(t, row, false, out);
}
