/*
 * Text in columns, for people: widths found from what is in them, numbers aligned at their decimal
 * points, and columns left out, the least important first, where all would be too wide. Pure but
 * for the output; aborts where there is no memory.
 */
#ifndef KBLAT_ANALYSIS_TEXT_TABLE_H
#define KBLAT_ANALYSIS_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Bytes of a cell, with the NUL. */
#define TEXT_TABLE_CELL 28

enum text_align { ALIGN_LEFT, ALIGN_RIGHT, ALIGN_POINT /* decimal points below each other */ };

struct text_column {
	char title[TEXT_TABLE_CELL];
	enum text_align align;
	unsigned spare; /* 0: always shown; the highest is left out first */
	char (*cells)[TEXT_TABLE_CELL];
	bool hidden;
	size_t whole, fraction; /* widths; fraction with its point, only for ALIGN_POINT */
};

struct text_table {
	size_t rows, columns;
	struct text_column *column;
};

void text_table_init(struct text_table *t, size_t rows);
void text_table_free(struct text_table *t);

/* Add a column of empty cells; its index. */
size_t text_table_add(struct text_table *t, const char *title, enum text_align align, unsigned spare);

/* Fill a cell; what does not fit ends in "...". */
void text_table_set(struct text_table *t, size_t column, size_t row, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The heading and all rows, two spaces between columns, within `width` where that is possible. */
void text_table_print(struct text_table *t, size_t width, FILE *out);

#endif
