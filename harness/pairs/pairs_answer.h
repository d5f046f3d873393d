/*
 * What was measured between all pairs, and which pairs and hosts stand out.
 *
 * The answer, in pairs.json: {"measured", "failed", "left", "not_valid", "points": [{"id", "metric", "p50": {"median", "pairs",
 * "slow_hosts": [{"host", "times"}], "slow_pairs": [{"source", "sink", "value", "times"}]}, "p99": likewise}]}.
 * "p50" or "p99" is null where no pair has it: a quantile needs 20 samples beyond it.
 */
#ifndef KBLAT_PAIRS_ANSWER_H
#define KBLAT_PAIRS_ANSWER_H

#include "pairs/pairs_judge.h"
#include "pairs/pairs_record.h"

#define PAIRS_QUANTILES 2
extern const char *const pairs_quantiles[PAIRS_QUANTILES]; /* what of a point there is a matrix of */

/* A new reference. */
json_t *pairs_answer(const struct pairs *p);

/* The matrix of a point (by its index in the lines), from valid points only; free with pairs_matrix_free(). */
void pairs_answer_matrix(const struct pairs *p, size_t point, const char *statistic, struct pairs_matrix *m);

/* Does anything stand out? */
bool pairs_answer_is_slow(const json_t *answer);

#endif
