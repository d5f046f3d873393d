/*
 * The units of a point in chronological order, which shows a drift, or a boot that differs from the
 * others.
 */
#ifndef KBLAT_COMPARE_TIME_H
#define KBLAT_COMPARE_TIME_H

#include "compare/compare_join.h"
#include "compare/compare_plan.h"

/*
 * For the first quantity of a point: [{"arm": "BASE" | "NEW", "boot", "kernel", "started_ns": of
 * the first of its runs, "value": null if it has none, "runs": [one value for each]}], in
 * chronological order; values are in the quantity's own unit. New reference.
 */
json_t *compare_time(const struct compare_join *j, const struct compare_point *p);

/* Call perm_plan_drift() with the mean time of each unit's runs. */
int compare_drift(const struct compare_runs *runs, struct perm_plan *plan);

#endif
