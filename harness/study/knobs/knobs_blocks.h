/*
 * Blocks of runs. A block is one run of each arm of a stage, in random order, so that slow changes of the machine affect
 * all arms alike. Each run is a cell, which kbtune surrounds: it applies the arm's profile before it and restores the
 * machine afterwards, whatever happens to either.
 */
#ifndef KBLAT_KNOBS_BLOCKS_H
#define KBLAT_KNOBS_BLOCKS_H

#include "study/knobs/knobs_types.h"

/* Indexes of arms, each with a run in every block. The caller frees `arm`. */
struct knobs_arms_of {
	size_t *arm, count;
};

/* Those of the stage KNOBS_STAGE; and a pair, as each candidate for the smallest profile takes. */
struct knobs_arms_of blocks_arms(const struct knobs *k);
struct knobs_arms_of blocks_pair(const struct knobs *k, size_t with);

/* The number of blocks of a stage whose runs are all completed; is one of them complete? */
size_t blocks_done(const struct study *s, const char *stage);
bool blocks_is_done(const struct study *s, const char *stage, size_t block);

/* Does a cell belong to a stage? */
bool blocks_is_of(const struct cell *c, const char *stage);

/* The expected duration of a block, from previous runs of its arms, or from the forecast if there are none. */
double blocks_expected_s(const struct study *s, const struct knobs_arms_of *arms);

/*
 * Measure until there are `blocks` blocks of `arms`, an interrupt arrives, or the budget has no room for another block,
 * allowing for the part reserved for later (`reserve_s` per block). Existing results are not measured again. A run that
 * fails ends it: -ECHILD and `e`.
 */
int blocks_measure(struct study *s, const char *stage, const struct knobs_arms_of *arms, size_t blocks,
		   double reserve_s, struct err *e);

#endif
