/*
 * The passes after the first: quantiles whose bin holds several values, or that lie outside of all
 * bins, are narrowed until they are exact.
 */
#ifndef KBLAT_ANALYSIS_RANK_SEARCH_H
#define KBLAT_ANALYSIS_RANK_SEARCH_H

struct stats;
struct tallies;

/* Sets the quantiles of `out`; uses up what `all` has kept. 0 or -ENOMEM. */
int rank_search(struct tallies *all, struct stats *out);

#endif
