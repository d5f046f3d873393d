/*
 * What happened to the messages: how many were sent and lost, and how many others were in flight
 * when each one was submitted. Latency under load contains the time in this queue, so a reader must
 * see how long it was.
 *
 * Takes one pass over both columns, or two if a repetition has more than WINDOW_BINS messages.
 * Memory only grows with the number of messages that are in flight out of order. Cost: about 4 ns
 * per message.
 */
#ifndef KBLAT_ANALYSIS_FLIGHT_H
#define KBLAT_ANALYSIS_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "judge/analysis/stats.h"

struct flight {
	uint64_t sent, lost; /* submitted; of these, the ones never received */
	/* p50 and max are known: something was sent, and submission times never decrease */
	bool is_known;
	bool has_p50; /* as for any quantile: there are enough samples beyond it */
	/* messages in flight at a submission; neither the submitted message nor lost ones count */
	int64_t p50, max;
};

/* In each span, a is when a message was received, b (never NULL) when it was submitted. Returns 0
 * or -ENOMEM. */
int flight_compute(const struct span *spans, size_t span_count, struct flight *out, struct err *e);

#endif
