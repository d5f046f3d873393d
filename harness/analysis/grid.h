/*
 * Text in columns, for people: widths found from what is in them, numbers aligned at their decimal points, and columns
 * left out, the least important first, where all would be too wide. Pure but for the output; aborts where there is no
 * memory.
 */
#ifndef KBLAT_ANALYSIS_GRID_H
#define KBLAT_ANALYSIS_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Bytes of a cell, with the NUL. */
#define GRID_CELL 28

enum grid_align { GRID_LEFT, GRID_RIGHT, GRID_POINT /* decimal points below each other */ };

struct grid_column {
	char title[GRID_CELL];
	enum grid_align align;
	unsigned spare; /* 0: always shown; the highest is left out first */
	char (*cells)[GRID_CELL];
	bool hidden;
	size_t whole, fraction; /* widths; fraction with its point, only for GRID_POINT */
};

struct grid {
	size_t rows, columns;
	struct grid_column *column;
};

void grid_init(struct grid *g, size_t rows);
void grid_free(struct grid *g);

/* Add a column of empty cells; its index. */
size_t grid_add(struct grid *g, const char *title, enum grid_align align, unsigned spare);

/* Fill a cell; what does not fit ends in "...". */
void grid_set(struct grid *g, size_t column, size_t row, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The heading and all rows, two spaces between columns, within `width` where that is possible. */
void grid_print(struct grid *g, size_t width, FILE *out);

#endif
