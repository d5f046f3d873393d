/*
 * Fields of comma-separated values, RFC 4180.
 */
#ifndef KBLAT_COMMON_CSV_H
#define KBLAT_COMMON_CSV_H

#include <stdio.h>

/* A text, quoted if it contains a comma, a quote or a line break. Unprintable characters are replaced by '?', because
 * the output may be shown on a terminal. */
void csv_text(const char *text, FILE *out);

#endif
