/*
 * What became of the messages: how many were sent and lost, and how many were under way whenever
 * one was submitted (a latency under load contains the queue before it: a reader must see how long
 * that was).
 *
 * One pass over both columns, two where a repetition has more than WINDOW_BINS messages. Memory
 * grows only with the messages that are under way out of order; about 4 ns a message.
 */
#ifndef KBLAT_ANALYSIS_FLIGHT_H
#define KBLAT_ANALYSIS_FLIGHT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/stats.h"

struct flight {
	uint64_t sent, lost; /* submitted; of these, never received */
	/* p50 and max mean something: something was sent, and submissions never go back in time */
	bool is_known;
	bool has_p50; /* as any quantile: enough samples beyond */
	/* messages under way when one was submitted, itself not counted; lost ones neither */
	int64_t p50, max;
};

/* Each span: a is when a message was received, b (never NULL) when it was submitted. 0 or
 * -ENOMEM. */
int flight_compute(const struct span *spans, size_t span_count, struct flight *out, struct err *e);

/* {"p50", "max"}, null where not known. */
json_t *flight_json(const struct flight *f);

#endif
