/*
 * Which pairs are measured when, and what --dry-run prints of it.
 *
 * Pairs are measured in rounds, a round-robin tournament (the circle method): in each round no host is in two pairs,
 * after all rounds each pair was measured once. n hosts make n - 1 rounds of n / 2 pairs; an odd number n of them makes n
 * rounds, in each of which one host rests.
 */
#ifndef KBLAT_PAIRS_PLAN_H
#define KBLAT_PAIRS_PLAN_H

#include "study/study.h"

#define PAIRS_AT_ONCE 128

struct pairs_two {
	size_t source, sink; /* hosts; either side is each host's about as often */
};

size_t pairs_plan_rounds(size_t hosts);
size_t pairs_plan_places(size_t hosts); /* of a round; with an odd number one of them is empty */

/* False: the place is empty in this round. */
bool pairs_plan_at(size_t hosts, size_t round, size_t place, struct pairs_two *two);

/* A cell for each pair, round by round: its block is its round. */
void pairs_plan_cells(struct study *s);

/* How many pairs are measured at once. */
size_t pairs_plan_at_once(const struct study *s);

/* What one pair is: how many points, and for how long. */
struct pairs_plan {
	size_t points;
	double expected_s;
};

/* The rounds, how long they take, and what the coordinator needs for them. */
void pairs_plan_show(const struct study *s, const struct pairs_plan *plan, bool json);

#endif
