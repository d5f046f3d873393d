/*
 * Blocks of runs. A block is one run of each arm of a stage, in random order, so that slow changes
 * of the machine affect all arms alike. Each run is a separate `kblat run` within kbtune, which
 * applies the arm's profile before it and restores the machine afterwards, whatever happens to
 * either.
 */
#ifndef KBLAT_KNOBS_BLOCK_H
#define KBLAT_KNOBS_BLOCK_H

#include "knobs/knobs_record.h"

/* The expected duration of a block of these arms, from their previous runs, or from the forecast if
 * there are none. */
double block_expected_s(const struct knobs *k, const json_t *arms);

/*
 * Measure until there are `blocks` blocks of `arms` (names), an interrupt arrives, or the budget
 * has no room for another block, allowing for the part reserved for later (`reserve_s` per block).
 * Existing results are not measured again. A run that fails ends it: -ECHILD and `e`.
 */
int blocks_measure(struct knobs *k, const char *stage, const json_t *arms, size_t blocks, double reserve_s,
		   struct err *e);

#endif
