/*
 * Which pairs are measured at once: a round-robin tournament (the circle method). In each round no
 * host is in two pairs, after all rounds each pair was measured once: n - 1 rounds of n / 2 pairs, of
 * an odd number n rounds in each of which one host rests.
 */
#ifndef KBLAT_PAIRS_SCHEDULE_H
#define KBLAT_PAIRS_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>

struct pairs_two {
	size_t source, sink; /* hosts; either side is each host's about as often */
};

size_t pairs_schedule_rounds(size_t hosts);
size_t pairs_schedule_places(size_t hosts); /* of a round; with an odd number one of them is empty */
size_t pairs_schedule_pairs(size_t hosts);

/* False: the place is empty in this round. */
bool pairs_schedule_at(size_t hosts, size_t round, size_t place, struct pairs_two *two);

#endif
