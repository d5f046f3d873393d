/*
 * Fields of comma-separated values, RFC 4180.
 */
#ifndef KBLAT_COMMON_CSV_H
#define KBLAT_COMMON_CSV_H

#include <stdio.h>

/* A text, in quotes where there is a comma, a quote or a line break. What cannot be printed is shown as '?': it may end on
 * a terminal. */
void csv_text(const char *text, FILE *out);

#endif
