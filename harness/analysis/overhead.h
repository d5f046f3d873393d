/*
 * The overhead of messages on the wire: their payload compared with the bytes that the RDMA port or
 * the network interface of the source counted meanwhile. The latter include headers,
 * acknowledgements in the same direction, and any other traffic.
 *
 * {"payload_bytes", "raw_bytes", "factor", "percent", "bytes_per_s", "why"}: if there is no byte
 * counter, the values that depend on it are null, and "why" gives the reason. Messages to the sink
 * are compared with transmitted bytes, messages from it with received ones.
 */
#ifndef KBLAT_ANALYSIS_OVERHEAD_H
#define KBLAT_ANALYSIS_OVERHEAD_H

#include "analysis/blocks.h"

extern const struct block overhead_block;

#endif
