/*
 * Values in order of time as a line the height of a row: inline SVG in the text's colour. Nothing
 * but numbers goes into it.
 */
#ifndef KBLAT_REPORT_SPARKLINE_H
#define KBLAT_REPORT_SPARKLINE_H

#include <stddef.h>
#include <stdio.h>

/* `text` says the same in numbers, for readers who can't see it (escaped here). With many values, each place
 * on the line is the mean of some. */
void sparkline_write(FILE *out, const double *values, size_t count, const char *text);

#endif
