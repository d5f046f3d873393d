/*
 * The first pass over all samples: counted into a window of bins, by as many threads as are worth
 * it, with the moments that need no second look.
 */
#ifndef KBLAT_ANALYSIS_TALLY_H
#define KBLAT_ANALYSIS_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/shares.h"
#include "analysis/stats.h"
#include "analysis/window.h"
#include "common/npy.h"

/*
 * What one pass finds beside the counts. Sums are of (value - base), so that they stay exact and
 * small: `sum` fits whatever comes, `squares` may wrap for ranges of days (see deviations()).
 */
struct moments {
	int64_t base;
	uint64_t n, lost, below, above, over;
	int64_t min, max;
	__int128 sum;
	unsigned __int128 squares;
};

/* Values of which some will be looked at again (first those outside the window, then those in the
 * ranges that are still open), kept while they are few: that takes no pass over everything. */
struct kept {
	int64_t *values;
	size_t count, room;
	bool is_all;
};

static inline void tally_keep(struct kept *k, int64_t value)
{
	/* No span has a place for the value that means "never". */
	k->is_all = k->is_all && k->count < k->room && value != NEVER;
	if (k->is_all)
		k->values[k->count++] = value;
}

/* What one thread finds in its share of the samples. */
struct tally {
	struct span *spans;
	size_t span_count;
	struct window window; /* placed alike for all */
	struct moments moments;
	struct kept kept;
};

struct tallies {
	struct tally of[SHARES_MAX];
	unsigned count;
	int64_t limit;
	struct span *spans; /* of all of them */
	int64_t *kept;
};

/* Deal `spans` to threads. 0 or -ENOMEM; to be closed in any case. */
int tallies_open(struct tallies *all, const struct span *spans, size_t span_count, int64_t limit);
void tallies_close(struct tallies *all);

/* The pass. What all have found is the first tally's then, but for what each has kept. */
void tallies_count(struct tallies *all, const struct span *spans, size_t span_count);

#endif
