/*
 * How fast the samples of a point were written to a file.
 *
 * {"stored_bytes", "bytes_per_s", "write_bytes_per_s", "waits"}: the total, the rate over the time
 * that passed, the rate over the time inside write(), and the number of samples that waited for it.
 */
#ifndef KBLAT_ANALYSIS_STORING_H
#define KBLAT_ANALYSIS_STORING_H

#include "analysis/blocks.h"

extern const struct block storing_block;

#endif
