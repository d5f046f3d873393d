/*
 * The first pass over all samples. Counts them in a window of bins, with as many threads as are
 * worthwhile, and computes the moments that do not need a second pass.
 */
#ifndef KBLAT_ANALYSIS_TALLY_H
#define KBLAT_ANALYSIS_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/npy.h"
#include "judge/analysis/span.h"
#include "judge/analysis/window.h"

#define SHARES_MAX 4 /* threads; the memory for counts is proportional to it */

/*
 * What one pass computes besides the counts. Sums are of (value - base), so that they stay exact
 * and small: `sum` always fits, `squares` may wrap for ranges of days (see deviations()).
 */
struct moments {
	int64_t base;
	uint64_t n, lost, below, above, over;
	int64_t min, max;
	__int128 sum;
	unsigned __int128 squares;
};

/* Values of which some will be needed again: first those outside the window, then those in the
 * ranges that are still to be narrowed. They are kept as long as there are few, which saves a pass
 * over everything. */
struct kept {
	int64_t *values;
	size_t count, room;
	bool is_all;
};

static inline void tally_keep(struct kept *k, int64_t value)
{
	/* A span cannot hold the value that means "never". */
	k->is_all = k->is_all && k->count < k->room && value != NEVER;
	if (k->is_all)
		k->values[k->count++] = value;
}

/* The results of one thread for its share of the samples. */
struct tally {
	struct span *spans;
	size_t span_count;
	struct window window; /* in the same place for all */
	struct moments moments;
	struct kept kept;
};

struct tallies {
	struct tally of[SHARES_MAX];
	unsigned count;
	int64_t limit;
	struct span *spans; /* of all shares */
	int64_t *kept;
};

/* Divide `spans` between threads. 0 or -ENOMEM; close in any case. */
int tallies_open(struct tallies *all, const struct span *spans, size_t span_count, int64_t limit);
void tallies_close(struct tallies *all);

/* Make the pass. Afterwards the first tally has the results of all, except for the values that each
 * has kept. */
void tallies_count(struct tallies *all, const struct span *spans, size_t span_count);

/* Call work(share, arg) for each share in parallel, and return when all are done. If a thread
 * cannot be started, the calling thread does its work. */
void shares_run(unsigned count, void (*work)(unsigned share, void *arg), void *arg);

#endif
