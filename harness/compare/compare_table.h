/*
 * Prints a comparison: what was compared, a line for each point and quantity, and the answer.
 */
#ifndef KBLAT_COMPARE_TABLE_H
#define KBLAT_COMPARE_TABLE_H

#include <jansson.h>
#include <stdio.h>

/* Print the result of compare_judge(), at most 140 columns wide. */
void compare_table(const json_t *result, FILE *out);

#endif
