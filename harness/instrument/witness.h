/*
 * Gaps between two looks at the tick counter: a loop that polls looks each time round, and a gap says that it did not run
 * for so long, whoever had the CPU. Notes are for afterwards: memory that is there already, one writer.
 *
 * Cost: a read of the counter without fences, a comparison and a store (some 7 ns), where a loop that spins on memory
 * would pause.
 */
#ifndef KBLAT_INSTRUMENT_WITNESS_H
#define KBLAT_INSTRUMENT_WITNESS_H

#include <stdint.h>

#include "instrument/clock.h"
#include "instrument/memory.h"

struct err;

struct witness_gap {
	int64_t from, to; /* ticks */
};

struct witness {
	int64_t last, least; /* ticks: the last look; what is a gap */
	struct witness_gap *gaps;
	uint32_t count, room;
	uint64_t missed; /* gaps that there was no room for */
	struct memory memory;
};

/* With room for 65536 gaps. 0 or a negative errno. */
int witness_open(struct witness *w, int numa_node, struct err *e);
void witness_close(struct witness *w);

/* Forget what there is; from now on gaps of `least` ticks are noted. */
void witness_begin(struct witness *w, int64_t least);

/* Out of line: seldom. */
void witness_note(struct witness *w, int64_t now);

/* Once in each round. */
static inline void witness_look(struct witness *w)
{
	const int64_t now = clock_ticks_now();

	if (__builtin_expect(now - w->last >= w->least, 0))
		witness_note(w, now);
	w->last = now;
}

/* After what takes long by itself. */
static inline void witness_skip(struct witness *w)
{
	w->last = clock_ticks_now();
}

#endif
