/*
 * Latencies that repeat with the index of the message, such as those of a ring of receive buffers:
 * periods found automatically (period.h) in the flow's first series, and in each other series.
 *
 * {"series", "period", "strength", "base_ns", "high_ns", "high_first", "high_last", "high":
 * [{"phases", "p50_ns"}], "low", "nested": [{"period", "strength", "high", "low"}], "entries",
 * "longest", "evidence", "threshold", "shuffles", "seed", "reps": [{"rep", "shift"}], "others":
 * {SERIES: the same}}
 *
 * Phases are numbered from 1, which is the first message of a repetition; `shift` is the number of
 * messages by which a repetition's ring was ahead of the first one's. high_ns is the median of the
 * slowest phases, which are high_first to high_last. If there is no period, "period" is null,
 * "strength" is 0, and no phase is high. Values are in the unit of the series; keys end in _ns
 * because all series are in nanoseconds.
 */
#ifndef KBLAT_ANALYSIS_PATTERN_H
#define KBLAT_ANALYSIS_PATTERN_H

#include "judge/analysis/blocks.h"

/* The first of a flow's series that has an order of its own: neither half of another nor sparse. NULL: none. */
const struct layout_series *pattern_series(const struct layout_flow *f);

struct period_sequence;

/* The values of such a series in the order of messages; NEVER for messages without a value. Release
 * with free(values). */
void pattern_sequence(const struct layout_series *s, const struct rep *r, struct period_sequence *out);

#endif
