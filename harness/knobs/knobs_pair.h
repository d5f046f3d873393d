/*
 * Two arms of a stage as a comparison: their runs, with one pair per block, joined point by point.
 */
#ifndef KBLAT_KNOBS_PAIR_H
#define KBLAT_KNOBS_PAIR_H

#include "compare/compare_join.h"
#include "knobs/knobs_record.h"

/* The runs of each arm, which are read once, however often the arm is compared. */
struct arm_runs {
	struct arm_run_list *lists;
	size_t count;
};

struct pair {
	struct compare_runs runs; /* borrowed from arm_runs, except for the list */
	struct compare_join join;
};

/* Call pair_free() in any case, before arm_runs_free(). */
int pair_join(struct pair *p, const struct knobs *k, const char *stage, struct arm_runs *arms, const char *base,
	      const char *with, const struct compare_choice *choice, struct err *e);
void pair_free(struct pair *p);

void arm_runs_free(struct arm_runs *arms);

#endif
