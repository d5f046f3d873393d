/*
 * The lines below a table: why the numbers of runs may not be quoted, and what else to know about
 * them.
 */
#ifndef KBLAT_ANALYSIS_REASONS_H
#define KBLAT_ANALYSIS_REASONS_H

#include <jansson.h>
#include <stdio.h>

/* Print the reasons of all summaries, then the warnings, wrapped at `width`; nothing if there are
 * none. With several summaries, each line names the run. */
void reasons_print(const json_t *const *summaries, size_t count, size_t width, FILE *out);

#endif
