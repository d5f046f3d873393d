/*
 * Tables: the widths, alignment and loss of columns in text, quoting in CSV, and cells whose text
 * is hostile or too long. How pages show them is tested in test_html_table.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/table_print.h"
#include "tap.h"

static char *printed(const struct table *t, const struct table_style *style)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	table_print(t, style, out);
	fclose(out);
	return text;
}

static void check_text(struct table *t, const struct table_style *style, const char *wanted, const char *what)
{
	char *text = printed(t, style);

	is_str(text, wanted, "%s", what);
	free(text);
	table_free(t);
}

enum { NAME, COUNT, TIME, VERDICT, COLUMNS };

static const struct table_column columns[COLUMNS] = {
    [NAME] = {.label = "name", .drop_order = 1},
    [COUNT] = {.label = "n", .measure = MEASURE_COUNT, .align = TABLE_NUMBER},
    [TIME] = {.label = "p99", .measure = MEASURE_SERIES, .align = TABLE_NUMBER, .drop_order = 2},
    [VERDICT] = {.label = "verdict"},
};

static struct table two_rows(void)
{
	struct table t = table_of(columns, COLUMNS, 2);

	table_text(&t, NAME, 0, "loopback");
	table_count(&t, COUNT, 0, 1000000);
	table_number(&t, TIME, 0, 1234);
	table_verdict(&t, VERDICT, 0, TONE_GOOD, "valid");
	table_text(&t, NAME, 1, "sh");
	table_count(&t, COUNT, 1, 7);
	table_number(&t, TIME, 1, 123456);
	return t;
}

static void test_text(void)
{
	struct table t = two_rows();

	check_text(&t, &(struct table_style){.width = 80},
		   "name            n     p99  verdict\n"
		   "loopback  1000000    1.23  valid\n"
		   "sh              7  123\n",
		   "a column is as wide as its widest cell, points are aligned, and no line ends with spaces");
	t = two_rows();
	check_text(&t, &(struct table_style){.width = 35, .indent = 2},
		   "  name            n  verdict\n"
		   "  loopback  1000000  valid\n"
		   "  sh              7\n",
		   "the column that can be spared best is left out first, and the indentation counts");
	t = two_rows();
	check_text(&t, &(struct table_style){.width = 5}, "      n  verdict\n1000000  valid\n      7\n",
		   "columns that cannot be spared stay, however narrow the terminal is");
	t = two_rows();
	check_text(&t, &(struct table_style){.bare = true, .gap = 1},
		   "loopback 1000000   1.23 valid\nsh             7 123\n",
		   "without a heading, its width does not count; the gap can be chosen");
	t = table_of(columns, COLUMNS, 0);
	check_text(&t, &(struct table_style){.width = 0}, "name  n  p99  verdict\n",
		   "a table without rows is its heading");
}

static void test_numbers(void)
{
	struct table t = table_of((struct table_column[]){{.label = "value", .align = TABLE_RIGHT}}, 1, 6);

	table_number(&t, 0, 0, NAN);
	table_measure(&t, 0, 1, MEASURE_SHARE, 0.00123);
	table_measure(&t, 0, 2, MEASURE_BYTE_RATE, 12.5e9);
	table_in_unit(&t, 0, 3, 1270, "ns");
	table_in_unit(&t, 0, 4, 0.5, "share");
	table_in_unit(&t, 0, 5, 12.5, "Hz");
	check_text(&t, &(struct table_style){.width = 0},
		   "  value\n      -\n   0.12\n  12500\n1.27 us\n   50 %\n12.5 Hz\n",
		   "a number is written as its own measure or unit demands; - if it is not known");
}

static void test_wrap(void)
{
	struct table t = table_of(
	    (struct table_column[]){{.label = "claim", .wrap = 9}, {.label = "why", .most = TABLE_WHOLE}}, 2, 2);

	table_text(&t, 0, 0, "slower than TCP");
	table_text(&t, 1, 0, "as p99 of the one is above that of the other");
	table_text(&t, 0, 1, "a-word-that-is-too-long");
	table_note(&t, 0, "see figure 4, which shows both");
	table_above(&t, 1, "second");
	check_text(&t, &(struct table_style){.note_indent = 3, .note_width = 16},
		   "claim      why\n"
		   "slower     as p99 of the one is above that of the other\n"
		   "than TCP\n"
		   "   see figure 4,\n"
		   "   which shows both\n"
		   "\nsecond\n"
		   "a-word-th\n"
		   "at-is-too\n"
		   "-long\n",
		   "cells and notes are wrapped between words, and inside those that are longer than a line");
}

static void test_hostile(void)
{
	struct table t = table_of((struct table_column[]){{.label = "x"}, {.label = "y\033"}}, 2, 3);

	table_text(&t, 0, 0, "a\033[31mb\nc");
	table_text(&t, 0, 1, "%s", "123456789 123456789 123\303\244\303\244\303\244");
	table_text(&t, 0, 2, "%s", "123456789 123456789 1234567");
	table_text(&t, 1, 0, "\342\200\256gnp");
	table_text(&t, 1, 2, "\377");
	check_text(&t, &(struct table_style){.width = 80},
		   "x                            y?\n"
		   "a?[31mb?c                    ?gnp\n"
		   "123456789 123456789 123...\n"
		   "123456789 123456789 1234567  ?\n",
		   "controls and broken UTF-8 become ?, long text is cut between characters");
}

static void test_drawing(void)
{
	struct table t = table_of((struct table_column[]){{.label = "a"}, {.label = "b"}}, 2, 1);

	table_drawing(&t, 0, 0, "<svg/>");
	table_text(&t, 1, 0, "x");
	check_text(&t, &(struct table_style){.width = 0}, "a  b\n   x\n", "a drawing is not printed");
}

static void test_growing(void)
{
	struct table t = table_of(columns, 2, 0);
	size_t row = table_row(&t), late;

	table_text(&t, NAME, row, "first");
	late = table_add(&t, &(struct table_column){.label = "late"});
	table_text(&t, late, row, "x");
	row = table_row(&t);
	table_text(&t, NAME, row, "second");
	table_text(&t, NAME, row, "third");
	table_cover(&t, NAME, 0, 2, 1);
	check_text(&t, &(struct table_style){.width = 0}, "name   n  late\nfirst     x\n\n",
		   "rows and columns can be added to a filled table; a covered cell is not printed");
}

int main(void)
{
	test_text();
	test_numbers();
	test_wrap();
	test_hostile();
	test_drawing();
	test_growing();
	return done_testing();
}
