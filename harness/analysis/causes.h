/*
 * The summary block `causes`: the tail of a flow's latencies, by cause.
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

/* The block of a flow in a point of a summary; NULL if no message of the flow was late. */
const json_t *causes_if_late(const json_t *point, const char *flow);

/* The "side" of an entry: a new object. */
json_t *causes_side_json(const struct cause *c);

/* Read an entry of "causes"; false if this version does not know its class. */
bool causes_read_entry(const json_t *entry, struct cause *out);

/* Adds to `warnings` what readers of the numbers must know; nothing if no explanation of the flow
 * was asked for. */
void causes_warn(const json_t *causes, json_t *warnings);

#endif
