/*
 * What all pairs say, for people.
 */
#ifndef KBLAT_PAIRS_TABLE_H
#define KBLAT_PAIRS_TABLE_H

#include <jansson.h>
#include <stdio.h>

/* `pairs`: pairs.json, with its answer. */
void pairs_table(const json_t *pairs, FILE *out);

/* In a sentence: what stands out, or that nothing does. The caller frees. */
char *pairs_table_sentence(const json_t *answer);

#endif
