/*
 * Compares an arm with itself (an A/A test): its units are split into halves in `splits` ways,
 * drawn with the rule's seed, and each split is judged like a comparison. The earlier half is also
 * compared with the later one. The verdict "regression" means that there is a drift.
 *
 *   {"schema": 1, "verdict", "answer", "unit", "units", "runs", "alpha", "seed", "splits",
 *    "counts": {verdict: count}, "false_alarms", "false_alarms_upper_95",
 *    "earlier_later": a verdict, "needed", "points": [{"id", "label", "metric",
 *      "quantities": [{"quantity", "level", "noise", "noise_percent", "stdev_units_percent",
 *        "stdev_runs_percent"}]}]}
 */
#ifndef KBLAT_COMPARE_AA_H
#define KBLAT_COMPARE_AA_H

#include <jansson.h>
#include <stdio.h>

#include "compare/compare_judge.h"

/* New reference, or NULL. */
json_t *compare_aa(const struct compare_join *j, const struct compare_rule *rule, size_t splits, struct err *e);

/* Print it for people, 110 columns wide. */
void compare_aa_table(const json_t *result, FILE *out);

#endif
