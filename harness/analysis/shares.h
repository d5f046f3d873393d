/*
 * Samples dealt to threads, so that a pass over many millions takes several of the CPUs that the
 * process may use. A share has spans of its own; nobody else reads or writes what its thread counts into.
 */
#ifndef KBLAT_ANALYSIS_SHARES_H
#define KBLAT_ANALYSIS_SHARES_H

#include <stddef.h>

#include "analysis/stats.h"

/* Memory for counts grows with it. */
#define SHARES_MAX 4

/* The threads that share `samples` of them: 1 where starting more would take longer than they
 * save. */
unsigned shares_for(size_t samples);

/* The part of `spans` that is share number `share` of `count`: written to `out`, which has room for
 * as many spans as there are. Returns how many it is. */
size_t shares_deal(const struct span *spans, size_t span_count, unsigned share, unsigned count, struct span *out);

/* work(share, arg) for each share, side by side; back when all are done. Where there can be no more
 * threads, the caller's does it. */
void shares_run(unsigned count, void (*work)(unsigned share, void *arg), void *arg);

#endif
