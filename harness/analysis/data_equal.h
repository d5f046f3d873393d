/*
 * Compares derived files with what is computed anew. Sentences in them are for people, so later
 * versions may word them differently; the numbers in them are data.
 */
#ifndef KBLAT_ANALYSIS_DATA_EQUAL_H
#define KBLAT_ANALYSIS_DATA_EQUAL_H

#include <jansson.h>
#include <stdbool.h>

/* Equal, except that words ("why", "reasons", "warnings", "label", "measured") only need to have the
 * same numbers in the same order. */
bool data_equal(const json_t *a, const json_t *b);

#endif
