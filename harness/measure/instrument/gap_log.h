/*
 * Records gaps between two reads of the tick counter. A polling loop reads it in every iteration, so a gap means that
 * the loop did not run for that time, for whatever reason. Gaps are stored in preallocated memory by one writer, and
 * evaluated afterwards.
 *
 * Cost: a read of the counter without fences, a comparison and a store (some 7 ns), where a loop that spins on memory
 * would pause.
 */
#ifndef KBLAT_INSTRUMENT_GAP_LOG_H
#define KBLAT_INSTRUMENT_GAP_LOG_H

#include <stdint.h>

#include "measure/instrument/clock.h"
#include "measure/instrument/memory.h"

struct err;

struct logged_gap {
	int64_t from, to; /* ticks */
};

struct gap_log {
	int64_t last, least; /* ticks: the last look; what is a gap */
	struct logged_gap *gaps;
	uint32_t count, room;
	uint64_t missed; /* gaps for which there was no room */
	struct memory memory;
};

/* Allocate room for 65536 gaps. 0 or a negative errno. */
int gap_log_open(struct gap_log *log, int numa_node, struct err *e);
void gap_log_close(struct gap_log *log);

/* Discard all gaps; from now on, record gaps of at least `least` ticks. */
void gap_log_begin(struct gap_log *log, int64_t least);

/* Not inline, because it is called rarely. */
void gap_log_note(struct gap_log *log, int64_t now);

/* To be called in every iteration. */
static inline void gap_log_look(struct gap_log *log)
{
	const int64_t now = clock_ticks_now();

	if (__builtin_expect(now - log->last >= log->least, 0))
		gap_log_note(log, now);
	log->last = now;
}

/* To be called after something that is expected to take long, so that it does not count as a gap. */
static inline void gap_log_skip(struct gap_log *log)
{
	log->last = clock_ticks_now();
}

#endif
