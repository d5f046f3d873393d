/*
 * How flows that are measured together share what they move: of points with several flows whose
 * kernels stamp t_subm and t_comp and count what was received (streams).
 *
 * A repetition's window is the time in which all of them were under way: from the latest first
 * submission to the earliest last completion. A message under way moves evenly, from its submission
 * or the completion before it, whichever is later, to its own completion; `quantum_share` counts
 * completed messages alone, as who looks at a log of completions does.
 *
 * Of the point, "fairness": {"from_ns", "to_ns", "jain", "jain_min", "spread_ns"}. Jain's index is 1
 * where all have the same share and 1/n where one of n has everything; jain_min is that of the worst
 * of FAIRNESS_WINDOWS equal parts of the window; spread_ns is by how much the first submissions are
 * apart. Of each repetition also "shares": {flow: [share in each part]}. from_ns and to_ns are of a
 * repetition; over several they are null, as bytes are added up.
 *
 * Of each flow, "small.fairness": {"share", "quantum_share", "bytes_per_s", "done_messages", "jain",
 * "jain_min"}: its part of the bytes that all moved in the window, how fast, how many messages. All
 * are null where there was no window.
 */
#ifndef KBLAT_ANALYSIS_FAIRNESS_H
#define KBLAT_ANALYSIS_FAIRNESS_H

#include "analysis/blocks.h"
#include "analysis/flow_summary.h"

#define FAIRNESS_WINDOWS 50

extern const struct block fairness_block;

/* Add it of `count` repetitions from `first` on; nothing where fewer than two flows can be compared. `alone`: `to` is
 * that of one repetition; else it is the point's, and first posts that are far apart are added to its "warnings". */
void fairness_add(const struct flow_summary *flows, size_t flow_count, size_t first, size_t count, bool alone,
		  json_t *to);

#endif
