/*
 * How flows that are measured together share the bandwidth. For points with several flows whose
 * kernels stamp t_subm and t_comp and count what was received (streams).
 *
 * The window of a repetition is the time in which all flows were active: from the latest first
 * submission to the earliest last completion. The bytes of a message are assumed to move evenly
 * from its submission, or the previous completion if that is later, until its own completion.
 * `quantum_share` only counts completed messages, as one would from a log of completions.
 *
 * The point has "fairness": {"from_ns", "to_ns", "jain", "jain_min", "spread_ns"}. Jain's index is
 * 1 if all flows have the same share, and 1/n if one of n flows has everything. jain_min is the
 * index of the worst of FAIRNESS_WINDOWS equal parts of the window. spread_ns is the time between
 * the earliest and the latest first submission. Each repetition also has "shares": {flow: [share in
 * each part]}. from_ns and to_ns belong to one repetition; for several they are null, because bytes
 * are added up.
 *
 * Each flow has "small.fairness": {"share", "quantum_share", "bytes_per_s", "done_messages",
 * "jain", "jain_min"}: its share of the bytes that all flows moved in the window, its rate, and its
 * number of messages. All are null if there was no window.
 */
#ifndef KBLAT_ANALYSIS_FAIRNESS_H
#define KBLAT_ANALYSIS_FAIRNESS_H

#include "judge/analysis/flow_summary.h"

#define FAIRNESS_WINDOWS 50

/* Add the blocks of `count` repetitions, beginning with `first`; nothing if fewer than two flows can
 * be compared. `alone`: they are those of a single repetition; otherwise a warning is added to `warnings` if the flows'
 * first posts are far apart. */
void fairness_add(const struct flow_summary *flows, size_t flow_count, size_t first, size_t count, bool alone,
		  struct summary_results *to, json_t *warnings);

#endif
