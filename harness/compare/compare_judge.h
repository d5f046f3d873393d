/*
 * The verdict on two arms whose points are joined: for every point and quantity the change, its
 * interval, the margin and what follows from them (docs/compare.md). Pure except for the clock:
 * values in, JSON out.
 *
 *   {"schema": 1, "verdict": "no regression" | "regression" | "undecided", "answer": a sentence,
 *    "experiment", "unit": "boot" | "run", "pairs", "in_turn", "alpha": of this look, where it is one,
 *    "look": null or {"planned": units an arm, "next": units at the next look or null, "alpha": of
 *      all looks}, "least_margin_percent", "effect_percent", "seed", "relabellings": {"count", "exact"},
 *    "trends": powers of time that were taken out of the values,
 *    "base": {"runs", "units", "kernels": [], "hosts": [], "boots": []}, "with": likewise,
 *    "notes": [], "needed": {"units", "at_least", "effect_percent", "point",
 *      "stdev_units_percent", "stdev_runs_percent"} or null,
 *    "points": [{"id", "label", "params", "metric", "left_out": {"base", "with"}, "reasons": [],
 *      "units": see compare_time.h,
 *      "quantities": [{"quantity": "p50",
 *        "verdict": "regression" | "improvement" | "equivalent" | "undecided", "may_be_worse",
 *        "noisy", "unit": "ns" | "share" | …, "base", "with", "effect", "effect_percent",
 *        "low", "high", "low_percent", "high_percent",
 *        "low_alone", "high_alone", "low_alone_percent", "high_alone_percent",
 *        "p", "p_alone", "margin", "margin_percent", "margin_from": "least" | "clock",
 *        "noise", "noise_percent", "detectable", "detectable_percent"}],
 *      "not_compared": [{"quantity", "why"}]}]}
 *
 * compare_noisy() adds "noisy", compare_cause() its cause, compare_late() "late" of points, and
 * compare_state() "state" and "state_fatal".
 *
 * Until 0.1.0 "margin_from" could be "noise": the margin was the smallest change that could be
 * detected.
 *
 * Effects and intervals are NEW - BASE, in the quantity's unit and in per cent of BASE; null:
 * infinite or not defined. With fewer than 4 units per arm (6 pairs) there are no quantities,
 * because there is no verdict.
 */
#ifndef KBLAT_COMPARE_JUDGE_H
#define KBLAT_COMPARE_JUDGE_H

#include "common/err.h"
#include "compare/compare_entry.h"
#include "compare/compare_join.h"

#define COMPARE_ALPHA 0.05 /* default */
#define COMPARE_POWER 0.85 /* for "how many boots are needed" */
#define COMPARE_UNITS 4	   /* per arm */
#define COMPARE_PAIRS 6	   /* with fewer, even the most extreme of all 2^n relabellings is not rare enough */

/* New reference, or NULL. */
json_t *compare_judge(const struct compare_join *j, const struct compare_rule *rule, struct err *e);

/* "rc, busy, 32B": the settings in which the points differ, preceded by the name of the flow; the
 * caller frees. */
char *compare_label(const struct compare_join *j, const struct compare_point *p);

/* The worst verdict of all points and quantities (in the order of compare_entry.h), using an existing plan. */
int compare_verdict(const struct compare_join *j, const struct compare_rule *rule, const struct perm_plan *plan,
		    size_t *verdict);

#endif
