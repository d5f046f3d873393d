/*
 * A table: columns that say what is in them, and rows of typed cells. It is filled once, from any
 * source, and then printed as text (common/table_print.h), or put on a page
 * (report/html_table.h). Text in cells and headings may come from outside: each of these makes it
 * safe. Aborts when out of memory.
 *
 *     static const struct table_column columns[] = {
 *         [RUNS_NAME] = {.key = "run", .label = "run"},
 *         [RUNS_P99] = {.key = "p99_ns", .label = "p99", .align = TABLE_NUMBER, .drop_order = 1},
 *     };
 *     struct table t = table_of(columns, RUNS_COLUMNS, 0);
 *     size_t row = table_row(&t);
 *
 *     table_text(&t, RUNS_NAME, row, "%s", name);
 *     table_number(&t, RUNS_P99, row, ns);
 *     table_print(&t, &(struct table_style){.width = 110}, stdout);
 *     table_free(&t);
 */
#ifndef KBLAT_COMMON_TABLE_H
#define KBLAT_COMMON_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/measure.h"

enum table_align {
	TABLE_LEFT,
	TABLE_RIGHT,
	TABLE_POINT,  /* decimal points are aligned */
	TABLE_NUMBER, /* one of the two above, as the column's measure demands */
};

#define TABLE_MOST  27	     /* the usual longest text of a cell, in bytes */
#define TABLE_WHOLE SIZE_MAX /* a text is shown whole, however long it is */

/* All but `label` may be missing. */
struct table_column {
	const char *key;   /* for programs: the heading in tables of figures; NULL: the label */
	const char *label; /* for people: the heading */
	const char *help;  /* its meaning, in a phrase, for pages */
	enum measure measure;
	enum table_align align;
	unsigned drop_order; /* 0: always printed; otherwise the column with the highest number is left out first */
	size_t most;	     /* longest text in bytes, the rest of which becomes "..."; 0: TABLE_MOST */
	size_t wrap;	/* texts are broken into lines of this width, which is that of the column; 0: they are not */
	size_t least;	/* the width at least, for tables that are printed in several parts */
	bool heads_row; /* on pages: its cell says what the row is about */
	bool unsorted;	/* on pages: its heading does not sort */
};

enum cell_kind {
	CELL_NONE, /* nothing can be here */
	CELL_TEXT,
	CELL_VERDICT, /* a text, and whether that is good */
	CELL_COUNT,
	CELL_NUMBER,  /* NaN: not known */
	CELL_DRAWING, /* markup for pages, made by this program; nothing elsewhere */
};

enum tone { TONE_NEUTRAL, TONE_GOOD, TONE_BAD };

struct table_cell {
	enum cell_kind kind;
	enum tone tone;
	enum measure measure; /* its column's, unless the cell has one of its own */
	int64_t count;
	double number;
	char *text;
	char *unit;		    /* of a number that names it, as in measure_in_unit(); otherwise NULL */
	char *help, *link, *remark; /* on pages: an explanation, where it leads to, what follows it; or NULL */
	unsigned rows, columns;	    /* on pages: how many it covers, 0 meaning one */
	bool covered;		    /* by the cell above or on its left */
};

struct table_row {
	char *above; /* printed as a line before the row, after an empty one; or NULL */
	char *note;  /* printed below the row; or NULL */
	bool begins; /* on pages: a group of rows */
	bool minor;  /* on pages: less important than the one before */
};

struct table {
	struct table_column *column; /* owns its texts */
	struct table_cell **cell;    /* of each column, then of each row */
	struct table_row *row;
	size_t columns, rows;
};

/* A table with these columns and rows of empty cells; either may be 0, as more can be added. */
struct table table_of(const struct table_column *columns, size_t count, size_t rows);
void table_free(struct table *t);

/* Add a column of empty cells, or a row of them. Returns its index. */
size_t table_add(struct table *t, const struct table_column *column);
size_t table_row(struct table *t);

/* Fill a cell, which is empty. */
void table_text(struct table *t, size_t column, size_t row, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void table_verdict(struct table *t, size_t column, size_t row, enum tone tone, const char *text);
void table_drawing(struct table *t, size_t column, size_t row, const char *markup);
void table_count(struct table *t, size_t column, size_t row, int64_t count);
void table_number(struct table *t, size_t column, size_t row, double number);
void table_measure(struct table *t, size_t column, size_t row, enum measure measure, double number);
void table_in_unit(struct table *t, size_t column, size_t row, double number, const char *unit);

/* Say more about a cell, for pages. The link is a complete URL or the path of one, already escaped as such. */
void table_help(struct table *t, size_t column, size_t row, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void table_link(struct table *t, size_t column, size_t row, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void table_remark(struct table *t, size_t column, size_t row, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The cell covers the next rows and columns, too, which must exist. */
void table_cover(struct table *t, size_t column, size_t row, unsigned rows, unsigned columns);

/* Print something below a row, or above it. */
void table_note(struct table *t, size_t row, const char *format, ...) __attribute__((format(printf, 3, 4)));
void table_above(struct table *t, size_t row, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
