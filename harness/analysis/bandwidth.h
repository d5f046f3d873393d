/*
 * The bandwidth, by the sender's stamps.
 *
 * For kernels with the columns t_subm and t_back: one message is under way at a time, and only the
 * time of the round trips counts, without the time between them.
 *
 * For kernels with the columns t_subm and t_comp that count what was received: a repetition lasts
 * from its first submission to its last completion. If there is a way back (t_subm_back,
 * t_comp_back), both directions are added.
 *
 * {"messages_per_s", "bytes_per_s", "delivered_bytes_per_s", "link_bits_per_s", "link_share"}.
 * delivered_bytes_per_s is computed from what was received, from the first reception to the last,
 * and null if the other side takes no part. link_bits_per_s, per direction, comes from a setting or
 * from the device; if neither is known, it and link_share are null. Only payload counts, without
 * what transports and networks add.
 */
#ifndef KBLAT_ANALYSIS_BANDWIDTH_H
#define KBLAT_ANALYSIS_BANDWIDTH_H

#include "analysis/blocks.h"

extern const struct block bandwidth_block;

#endif
