/*
 * What the blocks say: every comparison by the statistics of kblat compare (a pair of runs a block,
 * exact relabelling), all of them, with all points and quantities, held against one limit (max-T): the
 * chance that any knob is found where none does anything is at most alpha.
 *
 *   {"blocks", "alpha", "relabellings": {"count", "exact"}, "least_margin_percent", "seed",
 *    "comparisons": [{"knob", "what", "base", "with", "verdict": regression|improvement|mixed|equivalent|undecided,
 *      "points": [{"id", "label", "metric", "quantities": [compare_judge.h], "not_compared": [likewise]}]}],
 *    "knobs": [{"id", "verdict": needed|helps|worse|mixed|"no effect"|undecided|untested}]}
 *
 * needed: without it the whole is slower; helps: alone it is faster, yet without it the whole is not shown to be
 * slower, as others do the same; worse: alone it is slower, or without it the whole is faster.
 * With fewer than COMPARE_PAIRS blocks the quantities are missing, and everything is undecided.
 */
#ifndef KBLAT_KNOBS_JUDGE_H
#define KBLAT_KNOBS_JUDGE_H

#include "knobs/knobs_choice.h"
#include "knobs/knobs_record.h"

/* "result" of knobs.json; a new reference, or NULL and `e`. */
json_t *knobs_judge(const struct knobs *k, const struct knobs_choice *c, struct err *e);

/* One arm against another, of a stage, as kblat compare says it: compare_judge.h. */
json_t *knobs_compare(const struct knobs *k, const char *stage, const char *base, const char *with,
		      const struct knobs_choice *c, struct err *e);

/* Of a knob, as "result" has it. */
const char *knobs_verdict(const json_t *result, const char *id);

/* The comparison of a knob ("" and "whole": that of the profile), or NULL. */
const json_t *knobs_comparison(const json_t *result, const char *id, const char *what);

#endif
