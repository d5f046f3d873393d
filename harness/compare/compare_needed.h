/*
 * How many units (boots or runs) per arm a comparison needs.
 */
#ifndef KBLAT_COMPARE_NEEDED_H
#define KBLAT_COMPARE_NEEDED_H

#include "compare/compare_judge.h"

/* The minimum number of units per arm for a verdict. */
size_t compare_units_least(const struct compare_runs *runs);

/* The number that detects the effect asked for, at the point that needs most: "needed" of compare_judge.h. */
json_t *compare_needed(const struct compare_join *j, const struct compare_rule *rule);

#endif
