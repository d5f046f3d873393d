/*
 * The summary block `causes`: the tail of a flow's latencies by what caused it.
 */
#ifndef KBLAT_ANALYSIS_CAUSES_H
#define KBLAT_ANALYSIS_CAUSES_H

#include "analysis/blocks.h"
#include "analysis/explained.h"

extern const struct block causes_block;

/* {"metric", "messages", "explained", "explained_share", "not_known", "typical_share", "events_lost", "p50_ratio",
 * "p99_ratio", "why", "causes": [{"class", "side", "name", "messages", "share", "time_p50_ns", "time_max_ns"}]}: a new
 * object. */
json_t *causes_json(const struct explained *x);

/* The block in a point of a summary; NULL where no message of the flow was late. */
const json_t *causes_if_late(const json_t *point, const char *flow);

/* The "side" of an entry: a new object. */
json_t *causes_side_json(const struct cause *c);

/* An entry of its "causes": false if it is none that this version knows. */
bool causes_read_entry(const json_t *entry, struct cause *out);

/* What is to be said of it beside the numbers, added to `warnings`; a flow that was not to be explained has nothing. */
void causes_warn(const json_t *causes, json_t *warnings);

#endif
