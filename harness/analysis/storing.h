/*
 * How fast the samples that a point writes to a file went there.
 *
 * {"stored_bytes", "bytes_per_s", "write_bytes_per_s", "waits"}: the whole, by the time that
 * passed, and by the time inside write(); samples that waited for it.
 */
#ifndef KBLAT_ANALYSIS_STORING_H
#define KBLAT_ANALYSIS_STORING_H

#include "analysis/blocks.h"

extern const struct block storing_block;

#endif
