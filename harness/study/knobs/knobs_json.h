/*
 * A study of knobs as JSON. Only this module knows the keys.
 *
 * "plan": {"profile", "boot", "points": [{"id", "params"}], "expected_s": {"none", "whole"}, "metric", "quantities": [],
 * "margins": [], "blocks", "seed", "knobs": [{"id", "name", "knob", "setting", "cost", "folder", "shields", "tested",
 * "why"}], "arms": [{"name", "environment", "knobs": [ids]; without: it has no profile}], "comparisons": [{"knob": id or
 * "", "what": whole|alone|without, "base": arm, "with": arm}]}
 *
 * "answer": {"result": null or {"blocks", "alpha", "relabellings": {"count", "exact"}, "least_margin_percent", "seed",
 * "comparisons": [as in the plan, with "verdict": regression|improvement|mixed|equivalent|undecided and "points":
 * [comparison.h]], "knobs": [{"id", "verdict": needed|helps|worse|mixed|"no effect"|undecided|untested}]}, "smallest": null
 * or {"answer": a sentence, "verdict": found|whole|nothing|worse|undecided, "knobs": [ids] or null, "steps": [{"arm",
 * "knobs": [ids], "verdict": of compare, "answer": likewise}]}}
 */
#ifndef KBLAT_KNOBS_JSON_H
#define KBLAT_KNOBS_JSON_H

#include "study/knobs/knobs_types.h"

/* New references. */
json_t *knobs_plan_to_json(const void *knobs);
void knobs_free(void *knobs);
json_t *knobs_answer_to_json(const struct knobs *k);

/* A plan from outside becomes that of the study. What is not sound is refused: -EINVAL and STATUS_USAGE. */
int knobs_plan_from_json(struct study *s, const json_t *j, const char *file, struct err *e);

#endif
