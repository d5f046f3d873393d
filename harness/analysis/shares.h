/*
 * Divides samples between threads, so that a pass over many millions uses several of the CPUs
 * available to the process. Each share has its own spans, and only its own thread accesses the
 * memory that it counts in.
 */
#ifndef KBLAT_ANALYSIS_SHARES_H
#define KBLAT_ANALYSIS_SHARES_H

#include <stddef.h>

#include "analysis/stats.h"

/* The memory for counts is proportional to it. */
#define SHARES_MAX 4

/* The number of threads for `samples` samples: 1 if starting more would take longer than they save. */
unsigned shares_for(size_t samples);

/* Write share number `share` of `count` of `spans` to `out`, which has room for `span_count` spans.
 * Returns the number of spans in it. */
size_t shares_deal(const struct span *spans, size_t span_count, unsigned share, unsigned count, struct span *out);

/* Call work(share, arg) for each share in parallel, and return when all are done. If a thread
 * cannot be started, the calling thread does its work. */
void shares_run(unsigned count, void (*work)(unsigned share, void *arg), void *arg);

#endif
