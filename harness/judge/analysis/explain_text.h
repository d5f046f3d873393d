/*
 * What `kblat explain` prints about a flow: its tail by cause, then the worst messages, each with
 * what delayed it.
 */
#ifndef KBLAT_ANALYSIS_EXPLAIN_TEXT_H
#define KBLAT_ANALYSIS_EXPLAIN_TEXT_H

#include <jansson.h>
#include <stdio.h>

#include "judge/analysis/explained.h"

/* For a flow whose late messages were to be explained. Prints at most `worst` messages. */
void explain_text(const struct layout_flow *f, const struct explained *x, size_t worst, FILE *out);

/* The block `causes` (causes.h) and "worst": [{"rep", "message", "sent_ns", "took_ns", "excess_ns",
 * "explained_ns", "cause", "behind", "source": [{"cause", "time_ns"}], "sink"}], where "behind" is
 * null unless the message was queued, and a side about which nothing is known is null. A new
 * object. */
json_t *explain_json(const struct explained *x, size_t worst);

#endif
