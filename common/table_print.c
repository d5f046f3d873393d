#include "common/table_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clean_stream.h"
#include "common/or_abort.h"
#include "common/text.h"

#define GAP	     2
#define COLUMN_LEAST 12 /* of one that is wrapped */

/* What is printed of a column. */
struct printed {
	const struct table_column *column;
	char *title, **text;
	size_t whole, fraction; /* widths; `fraction` includes the decimal point */
	size_t wrap;		/* as the column's, but it may be narrower */
	bool hidden;
};

/* A line under construction: spaces are counted in `owed` until something follows, so that lines do
 * not end with spaces. */
struct line {
	FILE *out;
	size_t owed;
};

/* Printable, and not too long: not cut in the middle of a character. */
static char *cleaned(const char *text, size_t most)
{
	size_t length = strlen(text), end = most - 3;
	char *clean = or_abort(malloc(length + 1));

	text_clean(text, length, clean, length + 1);
	if (length <= most)
		return clean;
	while (end && ((unsigned char)clean[end] & 0xc0) == 0x80)
		end--;
	strcpy(clean + end, "...");
	return clean;
}

static char *printed_text(const struct table_column *c, const struct table_cell *cell)
{
	char number[MEASURE_TEXT_MAX + 32] = "";
	const char *text = number;

	switch (cell->covered ? CELL_NONE : cell->kind) {
	case CELL_NONE:
	case CELL_DRAWING:
		break;
	case CELL_TEXT:
	case CELL_VERDICT:
		text = cell->text;
		break;
	case CELL_COUNT:
		snprintf(number, sizeof(number), "%" PRId64, cell->count);
		break;
	case CELL_NUMBER:
		if (isnan(cell->number))
			text = "-";
		else if (cell->unit)
			measure_in_unit(cell->unit, cell->number, number, sizeof(number));
		else
			measure_below_heading(cell->measure, cell->number, number, sizeof(number));
		break;
	}
	return cleaned(text, c->wrap ? TABLE_WHOLE : c->most ? c->most : TABLE_MOST);
}

/* Characters from the decimal point on. */
static size_t printed_fraction(const struct printed *p, const char *text, size_t length)
{
	const char *point = p->column->align == TABLE_POINT ? memchr(text, '.', length) : NULL;

	return point ? text_columns(point, length - (size_t)(point - text)) : 0;
}

static void find_width(const struct table *t, const struct table_style *style, struct printed *p)
{
	size_t title = style->bare ? 0 : text_columns(p->title, strlen(p->title)), least = p->column->least;

	for (size_t row = 0; row < t->rows; row++) {
		size_t length = strlen(p->text[row]), fraction = printed_fraction(p, p->text[row], length);
		size_t whole = text_columns(p->text[row], length) - fraction;

		p->whole = whole > p->whole ? whole : p->whole;
		p->fraction = fraction > p->fraction ? fraction : p->fraction;
	}
	least = title > least ? title : least;
	if (least > p->whole + p->fraction)
		p->whole = least - p->fraction;
	p->wrap = p->column->wrap;
	if (p->wrap)
		p->whole = p->wrap;
}

static struct printed *printed_columns(const struct table *t, const struct table_style *style)
{
	struct printed *all = or_abort(calloc(t->columns + 1, sizeof(*all)));

	for (size_t c = 0; c < t->columns; c++) {
		struct printed *p = &all[c];

		p->column = &t->column[c];
		p->title = cleaned(p->column->label, TABLE_WHOLE);
		p->text = or_abort(calloc(t->rows + 1, sizeof(*p->text)));
		for (size_t row = 0; row < t->rows; row++)
			p->text[row] = printed_text(p->column, &t->cell[c][row]);
		find_width(t, style, p);
	}
	return all;
}

static void printed_free(struct printed *all, size_t columns, size_t rows)
{
	for (size_t c = 0; c < columns; c++) {
		for (size_t row = 0; row < rows; row++)
			free(all[c].text[row]);
		free(all[c].text);
		free(all[c].title);
	}
	free(all);
}

static size_t table_width(const struct printed *all, size_t columns, const struct table_style *style)
{
	size_t width = style->indent;

	for (const struct printed *p = all; p < all + columns; p++)
		if (!p->hidden)
			width += (width > style->indent ? style->gap : 0) + p->whole + p->fraction;
	return width;
}

/* Hide the columns that can be spared best until the others fit. */
static void hide_some(struct printed *all, size_t columns, const struct table_style *style)
{
	while (style->width && table_width(all, columns, style) > style->width) {
		struct printed *worst = NULL;

		for (struct printed *p = all; p < all + columns; p++)
			if (!p->hidden && p->column->drop_order &&
			    (!worst || p->column->drop_order > worst->column->drop_order))
				worst = p;
		if (!worst)
			return;
		worst->hidden = true;
	}
}

/* Break the texts of the widest columns into lines, not narrower than `least`, until the table fits. */
static void wrap_some(struct printed *all, size_t columns, size_t least, const struct table_style *style)
{
	while (table_width(all, columns, style) > style->width) {
		struct printed *widest = NULL;

		for (struct printed *p = all; p < all + columns; p++)
			if (!p->hidden && p->column->align == TABLE_LEFT && p->whole > least &&
			    (!widest || p->whole > widest->whole))
				widest = p;
		if (!widest)
			return;
		widest->wrap = --widest->whole;
	}
}

/* On a terminal everything is to be read without lines that are broken anywhere: what takes much space is wrapped, then columns
 * are left out, then the rest is wrapped. */
static void fit_terminal(struct printed *all, size_t columns, struct table_style *style, size_t width)
{
	style->width = width;
	wrap_some(all, columns, width / 3, style);
	hide_some(all, columns, style);
	wrap_some(all, columns, COLUMN_LEAST, style);
	if (style->note_indent > width / 2)
		style->note_indent = width / 2;
	if (!style->note_width || style->note_indent + style->note_width > width)
		style->note_width = width - style->note_indent;
}

static void put_text(struct line *l, const char *text, size_t length)
{
	fprintf(l->out, "%*s%.*s", (int)l->owed, "", (int)length, text);
	l->owed = 0;
}

static void print_cell(struct line *l, const struct printed *p, const char *text, size_t length, bool is_title)
{
	size_t width = text_columns(text, length), all = p->whole + p->fraction, before = 0;
	enum table_align align = p->column->align;

	if (align == TABLE_RIGHT || (align == TABLE_POINT && is_title))
		before = all > width ? all - width : 0;
	else if (align == TABLE_POINT)
		before = p->whole - (width - printed_fraction(p, text, length));
	if (!length) {
		l->owed += all;
		return;
	}
	l->owed += before;
	put_text(l, text, length);
	l->owed = all > before + width ? all - before - width : 0;
}

/* The length in bytes of the first line of `text` when it is wrapped: whole words, or a part of a
 * word that is too long. */
static size_t wrapped_length(const char *text, size_t width)
{
	size_t length = 0, end = 0;

	for (;;) {
		length += strspn(text + length, " ");
		length += strcspn(text + length, " ");
		if (text_columns(text, length) > width)
			break;
		end = length;
		if (!text[length])
			return end;
	}
	if (end)
		return end;
	while (text_columns(text, end + 1) <= width || ((unsigned char)text[end] & 0xc0) == 0x80)
		end++;
	return end;
}

/* The next line of a text, which advances to the one after it. */
static size_t next_line(const char **rest, size_t width, const char **line)
{
	size_t length = width ? wrapped_length(*rest, width) : strlen(*rest);

	*line = *rest;
	*rest += length;
	*rest += strspn(*rest, " ");
	return length;
}

/* `texts`: of each column. */
static void print_table_line(const struct printed *all, size_t columns, const char **texts, bool is_title,
			     const struct table_style *style, FILE *out)
{
	bool more;

	do {
		struct line l = {out, style->indent};

		more = false;
		for (size_t c = 0; c < columns; c++) {
			const char *text;
			size_t length;

			if (all[c].hidden)
				continue;
			length = next_line(&texts[c], all[c].wrap, &text);
			print_cell(&l, &all[c], text, length, is_title);
			l.owed += style->gap;
			more |= *texts[c] != '\0';
		}
		fputc('\n', out);
	} while (more);
}

static void print_note(const char *note, const struct table_style *style, FILE *out)
{
	char *clean = cleaned(note, TABLE_WHOLE);
	const char *rest = clean, *text;

	while (*rest) {
		size_t length = next_line(&rest, style->note_width, &text);

		fprintf(out, "%*s%.*s\n", (int)style->note_indent, "", (int)length, text);
	}
	free(clean);
}

static void print_above(const char *above, FILE *out)
{
	char *clean = cleaned(above, TABLE_WHOLE);

	fprintf(out, "\n%s\n", clean);
	free(clean);
}

void table_print(const struct table *t, const struct table_style *given, FILE *out)
{
	struct table_style style = *given;
	struct printed *all = printed_columns(t, &style);
	const char **texts = or_abort(calloc(t->columns + 1, sizeof(*texts)));
	const size_t terminal = clean_stream_width(out, 0);

	style.gap = style.gap ? style.gap : GAP;
	if (terminal)
		fit_terminal(all, t->columns, &style, terminal);
	else
		hide_some(all, t->columns, &style);
	for (size_t c = 0; c < t->columns; c++)
		texts[c] = all[c].title;
	if (!style.bare)
		print_table_line(all, t->columns, texts, true, &style, out);
	for (size_t row = 0; row < t->rows; row++) {
		if (t->row[row].above)
			print_above(t->row[row].above, out);
		for (size_t c = 0; c < t->columns; c++)
			texts[c] = all[c].text[row];
		print_table_line(all, t->columns, texts, false, &style, out);
		if (t->row[row].note)
			print_note(t->row[row].note, &style, out);
	}
	free(texts);
	printed_free(all, t->columns, t->rows);
}
