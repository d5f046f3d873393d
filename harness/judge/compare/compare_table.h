/*
 * Prints a comparison: what was compared, a line for each point and quantity, and the answer.
 */
#ifndef KBLAT_COMPARE_TABLE_H
#define KBLAT_COMPARE_TABLE_H

#include <stdio.h>

#include "judge/compare/comparison.h"

/* At most 140 columns wide. */
void compare_table(const struct comparison *c, FILE *out);

#endif
