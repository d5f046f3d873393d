/*
 * Judges the blocks: every comparison uses the statistics of kblat compare (each block has a pair
 * of runs; relabelling is exact). All comparisons, with all points and quantities, share one limit
 * (max-T), so the probability that any knob is found to have an effect although none has is at most
 * alpha.
 *
 *   {"blocks", "alpha", "relabellings": {"count", "exact"}, "least_margin_percent", "seed",
 *    "comparisons": [{"knob", "what", "base", "with", "verdict": regression|improvement|mixed|equivalent|undecided,
 *      "points": [{"id", "label", "metric", "quantities": [compare_judge.h], "not_compared": [likewise]}]}],
 *    "knobs": [{"id", "verdict": needed|helps|worse|mixed|"no effect"|undecided|untested}]}
 *
 * needed: the profile is slower without it. helps: it is faster alone, but the profile is not shown
 * to be slower without it, because other knobs do the same. worse: it is slower alone, or the
 * profile is faster without it. With fewer than COMPARE_PAIRS blocks there are no quantities, and
 * everything is undecided.
 */
#ifndef KBLAT_KNOBS_JUDGE_H
#define KBLAT_KNOBS_JUDGE_H

#include "knobs/knobs_choice.h"
#include "knobs/knobs_record.h"

/* "result" of knobs.json; a new reference, or NULL and `e`. */
json_t *knobs_judge(const struct knobs *k, const struct knobs_choice *c, struct err *e);

/* Compare two arms of a stage like kblat compare; the result is described in compare_judge.h. */
json_t *knobs_compare(const struct knobs *k, const char *stage, const char *base, const char *with,
		      const struct knobs_choice *c, struct err *e);

/* The verdict on a knob in "result". */
const char *knobs_verdict(const json_t *result, const char *id);

/* The comparison `what` of a knob (with "" and "whole", that of the profile), or NULL. */
const json_t *knobs_comparison(const json_t *result, const char *id, const char *what);

#endif
