/*
 * Loss of flows without a column of receptions (layout_flow.counts_loss): the messages that both
 * sides posted, minus those that both received.
 */
#ifndef KBLAT_ANALYSIS_COUNTED_LOSS_H
#define KBLAT_ANALYSIS_COUNTED_LOSS_H

#include "rundir/rep.h"

struct counted_loss {
	json_int_t sent, lost;
};

/* Of `count` repetitions. If the sink does not receive anything by design, nothing is lost. */
struct counted_loss counted_loss(const struct layout_flow *f, const struct rep *reps, size_t count);

#endif
