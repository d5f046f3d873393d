/*
 * The result for people: a line per knob, the knobs not tested and why, the smallest profile.
 */
#ifndef KBLAT_KNOBS_TABLE_H
#define KBLAT_KNOBS_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* `knobs`: knobs.json. For each comparison, the most significant quantity is shown. */
void knobs_table(const json_t *knobs, FILE *out);

/* The most significant quantity of a comparison: the smallest p, then the largest effect. `*point`
 * is the point that it belongs to. NULL: none was judged. */
const json_t *knobs_table_telling(const json_t *comparison, const json_t **point);

/* The joint interval of a quantity, in per cent, or in percentage points for a share. If one of its
 * ends is infinite, returns true and the interval of the quantity alone, whose ends may be infinite
 * (NaN), too. */
bool knobs_table_interval(const json_t *quantity, double *low, double *high);

#endif
