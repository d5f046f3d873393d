/*
 * Loss where no column tells what was received (layout_flow.counts_loss): what both sides posted, less what both
 * received.
 */
#ifndef KBLAT_ANALYSIS_COUNTED_LOSS_H
#define KBLAT_ANALYSIS_COUNTED_LOSS_H

#include "rundir/rep.h"

struct counted_loss {
	json_int_t sent, lost;
};

/* Of some repetitions. Where nobody at the sink receives anything, nothing is lost. */
struct counted_loss counted_loss(const struct layout_flow *f, const struct rep *reps, size_t count);

#endif
