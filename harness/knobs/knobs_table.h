/*
 * The answer for people: a line a knob, what is untested and why, the smallest profile.
 */
#ifndef KBLAT_KNOBS_TABLE_H
#define KBLAT_KNOBS_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Of knobs.json. Of each comparison the quantity that says most is shown. */
void knobs_table(const json_t *knobs, FILE *out);

/* The quantity of a comparison that says most: the least p, then the largest effect. `*point` is the one that has it. NULL:
 * none was judged. */
const json_t *knobs_table_telling(const json_t *comparison, const json_t **point);

/* Its interval, in per cent, or in points of a share: that of all together; true: that of the quantity alone, where all
 * together leave anything. NaN: no end is known. */
bool knobs_table_interval(const json_t *quantity, double *low, double *high);

#endif
