/*
 * Reasons and warnings of a run that differ only in numbers: "points 1, 4: 3 page faults" and "point 2: 7 page faults"
 * are "points 1, 2, 4: 3 to 7 page faults" for a reader.
 */
#ifndef KBLAT_ANALYSIS_NOTES_ALIKE_H
#define KBLAT_ANALYSIS_NOTES_ALIKE_H

#include <jansson.h>

/* The texts of `list`, an array of strings, in their order. Similar ones are merged at the position
 * of the first one. For more than a few points, the text only contains their number. Returns a new
 * array. */
json_t *notes_alike(const json_t *list);

#endif
