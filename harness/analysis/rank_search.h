/*
 * The passes after the first one: they narrow the quantiles whose bin contains several values, or
 * that lie outside of all bins, until they are exact.
 */
#ifndef KBLAT_ANALYSIS_RANK_SEARCH_H
#define KBLAT_ANALYSIS_RANK_SEARCH_H

struct stats;
struct tallies;

/* Sets the quantiles of `out`; consumes the values that `all` has kept. 0 or -ENOMEM. */
int rank_search(struct tallies *all, struct stats *out);

#endif
