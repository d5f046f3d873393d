/*
 * Blocks of runs: one of each arm of a stage, in random order, then the next, so that what changes
 * slowly in the machine is the same for all. Each run is a `kblat run` of its own; kbtune applies its
 * arm's profile around it and puts the machine back, whatever happens to either.
 */
#ifndef KBLAT_KNOBS_BLOCK_H
#define KBLAT_KNOBS_BLOCK_H

#include "knobs/knobs_record.h"

/* How long a block of these arms is expected to take: as long as their runs so far, or as was forecast. */
double block_expected_s(const struct knobs *k, const json_t *arms);

/*
 * Measure blocks of the arms (names) until so many are there, or an interrupt, or until the budget would not hold
 * another, with what is kept of it for later (`reserve_s` a block). A run that fails ends it: -ECHILD and
 * `e`. What is there already is not measured again.
 */
int blocks_measure(struct knobs *k, const char *stage, const json_t *arms, size_t blocks, double reserve_s,
		   struct err *e);

#endif
