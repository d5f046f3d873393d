#include "analysis/grid.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"
#include "common/text.h"

#define GAP 2

void grid_init(struct grid *g, size_t rows)
{
	*g = (struct grid){.rows = rows};
}

void grid_free(struct grid *g)
{
	for (size_t i = 0; i < g->columns; i++)
		free(g->column[i].cells);
	free(g->column);
	*g = (struct grid){0};
}

size_t grid_add(struct grid *g, const char *title, enum grid_align align, unsigned spare)
{
	struct grid_column *c;

	g->column = or_abort(realloc(g->column, (g->columns + 1) * sizeof(*g->column)));
	c = &g->column[g->columns];
	*c = (struct grid_column){.align = align, .spare = spare, .cells = calloc(g->rows + 1, sizeof(*c->cells))};
	if (!c->cells)
		abort();
	text_clean(title, strlen(title), c->title, sizeof(c->title));
	return g->columns++;
}

void grid_set(struct grid *g, size_t column, size_t row, const char *format, ...)
{
	char raw[512], *cell = g->column[column].cells[row];
	size_t end = GRID_CELL - 4;
	va_list ap;

	va_start(ap, format);
	vsnprintf(raw, sizeof(raw), format, ap);
	va_end(ap);
	text_clean(raw, strlen(raw), cell, GRID_CELL);
	if (strlen(raw) < GRID_CELL)
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
static size_t fraction_of(const struct grid_column *c, const char *cell)
{
	const char *point = c->align == GRID_POINT ? strchr(cell, '.') : NULL;

	return point ? width_of(point) : 0;
}

static void measure(const struct grid *g, struct grid_column *c)
{
	c->whole = c->fraction = 0;
	for (size_t row = 0; row < g->rows; row++) {
		size_t fraction = fraction_of(c, c->cells[row]), whole = width_of(c->cells[row]) - fraction;

		c->whole = whole > c->whole ? whole : c->whole;
		c->fraction = fraction > c->fraction ? fraction : c->fraction;
	}
	if (width_of(c->title) > c->whole + c->fraction)
		c->whole = width_of(c->title) - c->fraction;
}

static size_t total_width(const struct grid *g)
{
	size_t width = 0;

	for (size_t i = 0; i < g->columns; i++)
		if (!g->column[i].hidden)
			width += (width ? GAP : 0) + g->column[i].whole + g->column[i].fraction;
	return width;
}

/* Hide the one that can best be spared; false if there is none. */
static bool hide_one(struct grid *g)
{
	struct grid_column *worst = NULL;

	for (size_t i = 0; i < g->columns; i++)
		if (!g->column[i].hidden && g->column[i].spare && (!worst || g->column[i].spare > worst->spare))
			worst = &g->column[i];
	if (worst)
		worst->hidden = true;
	return worst != NULL;
}

static void pad(size_t n, FILE *out)
{
	fprintf(out, "%*s", (int)n, "");
}

/* Blanks at the end of a line are held back in `*owed` until something follows. */
static void put_cell(const struct grid_column *c, const char *text, bool is_title, size_t *owed, FILE *out)
{
	size_t width = width_of(text), all = c->whole + c->fraction, before = 0;

	if (c->align == GRID_RIGHT || (c->align == GRID_POINT && is_title))
		before = all - width;
	else if (c->align == GRID_POINT)
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

static void put_line(const struct grid *g, size_t row, bool is_title, FILE *out)
{
	size_t owed = 0;

	for (size_t i = 0; i < g->columns; i++) {
		const struct grid_column *c = &g->column[i];

		if (c->hidden)
			continue;
		put_cell(c, is_title ? c->title : c->cells[row], is_title, &owed, out);
		owed += GAP;
	}
	fputc('\n', out);
}

void grid_print(struct grid *g, size_t width, FILE *out)
{
	for (size_t i = 0; i < g->columns; i++)
		measure(g, &g->column[i]);
	while (total_width(g) > width && hide_one(g))
		;
	put_line(g, 0, true, out);
	for (size_t row = 0; row < g->rows; row++)
		put_line(g, row, false, out);
}
