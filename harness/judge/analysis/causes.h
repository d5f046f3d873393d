/*
 * The summary block `causes`: the tail of a flow's latencies, by cause.
 */
#ifndef KBLAT_ANALYSIS_CAUSES_H
#define KBLAT_ANALYSIS_CAUSES_H

#include "judge/analysis/explained.h"
#include "judge/analysis/summary.h"

/* Set everything but `of` and `flow`; release with summary_free_block(). */
void causes_set(const struct explained *x, struct summary_block *out);

/* Adds to `warnings` what readers of the numbers must know. */
void causes_warn(const struct summary_block *causes, json_t *warnings);

#endif
