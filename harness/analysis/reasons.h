/*
 * Why the numbers of runs may not be quoted, and what else to know: the lines below a table.
 */
#ifndef KBLAT_ANALYSIS_REASONS_H
#define KBLAT_ANALYSIS_REASONS_H

#include <jansson.h>
#include <stdio.h>

/* Reasons of all summaries, then warnings, wrapped at `width`; nothing where there are none. With
 * several summaries each line says which run. */
void reasons_print(const json_t *const *summaries, size_t count, size_t width, FILE *out);

#endif
