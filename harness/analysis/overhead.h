/*
 * What messages cost on the wire: their own bytes beside those that the RDMA port or the network
 * interface of the source counted meanwhile, headers and acknowledgements in that direction
 * included, and whatever else went over it.
 *
 * {"payload_bytes", "raw_bytes", "factor", "percent", "bytes_per_s", "why"}: what was counted is
 * null where there is no counter of bytes, and "why" says so. Messages to the sink are held against
 * what left, those from it against what arrived.
 */
#ifndef KBLAT_ANALYSIS_OVERHEAD_H
#define KBLAT_ANALYSIS_OVERHEAD_H

#include "analysis/blocks.h"

extern const struct block overhead_block;

#endif
