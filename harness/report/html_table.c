#include "report/html.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const tones[] = {[TONE_NEUTRAL] = "unsaid", [TONE_GOOD] = "yes", [TONE_BAD] = "bad"};

static void write_attribute(const struct page *p, const char *name, const char *text)
{
	if (!text || !*text)
		return;
	html_printf(p, " %s=\"", name);
	html_text(p, text);
	html_printf(p, "\"");
}

static bool has_headings(const struct table *t)
{
	for (size_t c = 0; c < t->columns; c++)
		if (*t->column[c].label)
			return true;
	return false;
}

static void write_headings(const struct page *p, const struct table *t)
{
	html_printf(p, "<thead><tr>");
	for (size_t c = 0; c < t->columns; c++) {
		const struct table_column *column = &t->column[c];

		html_printf(p, "<th scope=\"col\"%s",
			    column->unsorted		  ? " class=\"plain\""
			    : column->align == TABLE_LEFT ? ""
							  : " class=\"n\"");
		write_attribute(p, "title", column->help);
		html_printf(p, ">");
		html_text(p, column->label);
		html_printf(p, "</th>");
	}
	html_printf(p, "</tr></thead>\n");
}

/* What the columns are, for those who have no mouse to point at their headings. */
void html_columns(const struct page *p, const struct table *t)
{
	bool any = false;

	for (size_t c = 0; c < t->columns; c++)
		if (t->column[c].help && *t->column[c].label) {
			html_printf(p, any ? "<dt>"
					   : "<details class=\"soft\"><summary>The columns</summary>\n<dl>\n<dt>");
			html_text(p, t->column[c].label);
			html_printf(p, "</dt><dd>");
			html_text(p, t->column[c].help);
			html_printf(p, "</dd>\n");
			any = true;
		}
	if (any)
		html_printf(p, "</dl>\n</details>\n");
}

static void write_number(const struct page *p, const struct table_cell *cell)
{
	char text[MEASURE_TEXT_MAX + 32];
	bool is_time = cell->unit ? !strcmp(cell->unit, "ns") : cell->measure == MEASURE_SERIES;

	if (isnan(cell->number))
		html_printf(p, "&ndash;");
	else if (is_time)
		html_ns_near(p, cell->number);
	else if (cell->unit)
		html_text(p, measure_in_unit(cell->unit, cell->number, text, sizeof(text)));
	else
		html_text(p, measure_with_unit(cell->measure, cell->number, text, sizeof(text)));
}

void html_verdict(const struct page *p, enum tone tone, const char *text)
{
	html_printf(p, "<span class=\"%s\">", tones[tone]);
	html_text(p, text);
	html_printf(p, "</span>");
}

static void write_content(const struct page *p, const struct table_cell *cell)
{
	switch (cell->kind) {
	case CELL_NONE:
		break;
	case CELL_TEXT:
		html_text(p, cell->text);
		break;
	case CELL_DRAWING:
		html_printf(p, "%s", cell->text);
		break;
	case CELL_VERDICT:
		html_verdict(p, cell->tone, cell->text);
		break;
	case CELL_COUNT:
		html_printf(p, "%" PRId64, cell->count);
		break;
	case CELL_NUMBER:
		write_number(p, cell);
		break;
	}
}

/* Text that is in the place of several columns is not aligned like their numbers. */
static void write_cell(const struct page *p, const struct table_column *column, const struct table_cell *cell)
{
	const char *tag = column->heads_row ? "th" : "td";

	html_printf(p, "<%s%s%s", tag, column->heads_row ? " scope=\"row\"" : "",
		    column->align == TABLE_LEFT || cell->columns > 1 ? "" : " class=\"n\"");
	if (cell->rows > 1 || (cell->rows && cell->columns < 2))
		html_printf(p, " rowspan=\"%u\"", cell->rows);
	if (cell->columns > 1)
		html_printf(p, " colspan=\"%u\"", cell->columns);
	write_attribute(p, "title", cell->help);
	html_printf(p, ">");
	if (cell->link) {
		html_printf(p, "<a");
		write_attribute(p, "href", cell->link);
		html_printf(p, ">");
	}
	write_content(p, cell);
	html_printf(p, "%s", cell->link ? "</a>" : "");
	if (cell->remark) {
		html_printf(p, " <span class=\"soft\">");
		html_text(p, cell->remark);
		html_printf(p, "</span>");
	}
	html_printf(p, "</%s>", tag);
}

static void write_row(const struct page *p, const struct table *t, size_t row)
{
	html_printf(p, t->row[row].minor ? "<tr class=\"second\">" : "<tr>");
	for (size_t c = 0; c < t->columns; c++)
		if (!t->cell[c][row].covered)
			write_cell(p, &t->column[c], &t->cell[c][row]);
	html_printf(p, "</tr>\n");
}

void html_rows(const struct page *p, const struct table *t, const char *style, bool tall)
{
	html_printf(p, "<div class=\"wide%s\" tabindex=\"0\">\n<table%s%s%s>\n", tall ? " tall" : "",
		    *style ? " class=\"" : "", style, *style ? "\"" : "");
	if (has_headings(t))
		write_headings(p, t);
	for (size_t row = 0; row < t->rows; row++) {
		if (!row || t->row[row].begins)
			html_printf(p, "%s<tbody%s>\n", row ? "</tbody>\n" : "",
				    t->row[row].begins ? " class=\"point\"" : "");
		write_row(p, t, row);
	}
	html_printf(p, "%s</table>\n</div>\n", t->rows ? "</tbody>\n" : "");
}

void html_table(const struct page *p, const struct table *t, const char *style, bool tall)
{
	html_rows(p, t, style, tall);
	html_columns(p, t);
}
