/*
 * What made messages late in each arm, if both were measured with `explain`: from the block
 * `causes` of the summaries.
 */
#ifndef KBLAT_COMPARE_LATE_H
#define KBLAT_COMPARE_LATE_H

#include <stdio.h>

#include "compare/compare_join.h"

/*
 * Add to each point of a result "late": null, or {"base": {"runs": in which causes are known, "messages": late ones,
 * the mean of these runs}, "with": likewise, "causes": [{"class", "side", "name", "text", "base": {"messages", "share":
 * of the arm's late messages, "time_p50_ns": that the cause had of each, the mean of its runs; null: none}, "with":
 * likewise}]}, the most frequent first.
 */
void compare_late(const struct compare_join *j, json_t *result);

/* Print the most important causes of both arms side by side, for people. */
void compare_late_print(const json_t *result, FILE *out);

#endif
