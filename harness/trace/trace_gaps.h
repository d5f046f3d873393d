/*
 * Inserts the gaps that a loop saw between two of its polls (instrument/witness.h) among the events of the operating
 * system's kernel.
 */
#ifndef KBLAT_TRACE_GAPS_H
#define KBLAT_TRACE_GAPS_H

#include <stdbool.h>

#include "instrument/witness.h"
#include "trace/trace_events.h"

/* Adds to `to`, in order of time: the events of this CPU (`others`: and of all others), and the gaps of the loop on it,
 * in ns of `c`. 0 or -ENOMEM. */
int trace_gaps_merge(const struct trace_words *events, bool others, const struct witness *w, int cpu,
		     const struct clock_conversion *c, struct trace_words *to);

#endif
