/*
 * The periods in summaries, in words: a line for each point, flow and series.
 */
#ifndef KBLAT_ANALYSIS_PATTERN_TEXT_H
#define KBLAT_ANALYSIS_PATTERN_TEXT_H

#include <jansson.h>
#include <stdio.h>

/* `summary` has the blocks (pattern.h). */
void pattern_text(const json_t *summary, FILE *out);

#endif
