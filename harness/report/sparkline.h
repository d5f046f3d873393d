/*
 * Values in chronological order as a line of the height of a row: inline SVG in the text's colour.
 * It contains nothing but numbers.
 */
#ifndef KBLAT_REPORT_SPARKLINE_H
#define KBLAT_REPORT_SPARKLINE_H

#include <stddef.h>
#include <stdio.h>

/* `text` (not escaped yet) gives the same as numbers, for readers who cannot see the line. If there
 * are many values, each position on the line is the mean of several. */
void sparkline_write(FILE *out, const double *values, size_t count, const char *text);

#endif
