/*
 * The numbers of messages that arrive, where a column of stamps would take too much memory: what came late, what came
 * twice. What was passed over is kept as a list of gaps, so that a stream that arrives in order costs a comparison a
 * message, and memory does not grow with it. One thread.
 */
#ifndef KBLAT_INSTRUMENT_ARRIVALS_H
#define KBLAT_INSTRUMENT_ARRIVALS_H

#include <stdbool.h>
#include <stdint.h>

#define ARRIVALS_GAPS 1024

struct arrivals_gap {
	uint32_t first, end; /* numbers that have not come: first to end - 1 */
};

/* All zero at the start. */
struct arrivals {
	uint32_t next;	      /* the number that is expected: all before came, or are in a gap */
	uint32_t forgotten;   /* gaps before this number are not remembered: what comes from there is taken for late */
	uint64_t late, twice; /* came after a later one; came before already */
	unsigned gaps;
	struct arrivals_gap gap[ARRIVALS_GAPS]; /* by number */
};

/* Cold: a number other than the expected one. */
void arrivals_other(struct arrivals *a, uint32_t number);

static inline void arrivals_take(struct arrivals *a, uint32_t number)
{
	if (__builtin_expect(number == a->next, 1))
		a->next++;
	else
		arrivals_other(a, number);
}

#endif
