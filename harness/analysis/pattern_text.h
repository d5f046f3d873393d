/*
 * What summaries say of periods, in words: a line for each point, flow and series.
 */
#ifndef KBLAT_ANALYSIS_PATTERN_TEXT_H
#define KBLAT_ANALYSIS_PATTERN_TEXT_H

#include <jansson.h>
#include <stdio.h>

/* Of a summary that has the blocks. */
void pattern_text(const json_t *summary, FILE *out);

#endif
