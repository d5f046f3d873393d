/*
 * Latencies that repeat with the number of the message, such as those of a ring of receive buffers:
 * periods that are found by themselves (period.h) in the flow's first series, and in each other.
 *
 * {"series", "period", "strength", "base_ns", "high_ns", "high_first", "high_last", "high": [{"phases",
 * "p50_ns"}], "low", "nested": [{"period", "strength", "high", "low"}], "entries", "longest",
 * "evidence", "threshold", "shuffles", "seed", "reps": [{"rep", "shift"}], "others": {SERIES: the
 * same}}
 *
 * Phases count from 1, which is the first message of a repetition; `shift` is by how many messages
 * a repetition's ring was ahead of the first one's. high_ns is the median of the slowest phases,
 * which are high_first to high_last. Without a period: "period" null, "strength" 0, nothing is high.
 * Values are of the series' own unit; keys say ns as all series are.
 */
#ifndef KBLAT_ANALYSIS_PATTERN_H
#define KBLAT_ANALYSIS_PATTERN_H

#include "analysis/blocks.h"

extern const struct block pattern_block;

/* The first of a flow's series that has its own order: not half of another, not only here and there. NULL: none. */
const struct layout_series *pattern_series(const struct layout_flow *f);

struct period_sequence;

/* The values of such a series in the order of messages: NEVER where there is none. Release with free(values). */
void pattern_sequence(const struct layout_series *s, const struct rep *r, struct period_sequence *out);

#endif
