/*
 * Many builds in chronological order: one value per boot, and where the level seems to change
 * (compare/changepoint.h). A change is not a verdict, but a hint which two builds to compare. Pure.
 *
 *   {"schema": 1, "experiment", "unit", "quantity", "answer",
 *    "points": [{"id", "label", "metric", "unit": "ns" | "share" | …,
 *      "builds" (that have the point): [{"kernel", "boot", "started_utc", "runs", "value" (null: none),
 *        "level" (of its segment)}],
 *      "changes": [{"at" (index of the first build after it), "before", "after" (kernels),
 *        "from", "to" (levels), "effect_percent"}]}]}
 */
#ifndef KBLAT_COMPARE_HISTORY_H
#define KBLAT_COMPARE_HISTORY_H

#include <stdio.h>

#include "compare/compare_join.h"

/* Make the history of joined runs, which are all in the base; `quantity`: a key from
 * compare_quantity_list(). New reference. */
json_t *history_of(const struct compare_join *j, const char *quantity);

void history_table(const json_t *history, FILE *out);

#endif
