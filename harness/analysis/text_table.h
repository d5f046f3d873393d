/*
 * Text in columns, for people. Widths are determined by the content, numbers are aligned at their
 * decimal points, and if the table is too wide, columns are left out, least important first. Pure
 * except for the output; aborts when out of memory.
 */
#ifndef KBLAT_ANALYSIS_TEXT_TABLE_H
#define KBLAT_ANALYSIS_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Size of a cell in bytes, including the NUL. */
#define TEXT_TABLE_CELL 28

enum text_align { ALIGN_LEFT, ALIGN_RIGHT, ALIGN_POINT /* decimal points are aligned */ };

struct text_column {
	char title[TEXT_TABLE_CELL];
	enum text_align align;
	unsigned spare; /* 0: always shown; otherwise the column with the highest number is left out first */
	char (*cells)[TEXT_TABLE_CELL];
	bool hidden;
	size_t whole, fraction; /* widths; `fraction` includes the decimal point and is only for ALIGN_POINT */
};

struct text_table {
	size_t rows, columns;
	struct text_column *column;
};

void text_table_init(struct text_table *t, size_t rows);
void text_table_free(struct text_table *t);

/* Add a column of empty cells. Returns its index. */
size_t text_table_add(struct text_table *t, const char *title, enum text_align align, unsigned spare);

/* Fill a cell; text that does not fit is truncated and ends in "...". */
void text_table_set(struct text_table *t, size_t column, size_t row, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Print the heading and all rows, with two spaces between columns, within `width` if possible. */
void text_table_print(struct text_table *t, size_t width, FILE *out);

#endif
