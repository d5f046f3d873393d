/*
 * Judges the quantities of many comparisons together: a relabelling swaps the arms of the same
 * blocks in all of them, and each quantity is compared with the largest statistic of all
 * (compare/compare_perm.h). Pure: values in, verdicts out.
 */
#ifndef KBLAT_KNOBS_JOINT_H
#define KBLAT_KNOBS_JOINT_H

#include "compare/compare_entry.h"
#include "compare/compare_join.h"

struct knobs_joint {
	struct compare_entry *entries; /* in the order in which they were added */
	struct perm_quantity *perms;
	size_t count;
	struct perm_plan plan;
};

/* Add all quantities of one comparison. `j` is borrowed and must outlive the verdict. */
void joint_add(struct knobs_joint *all, const struct compare_join *j, const struct compare_rule *rule);

/* Judge with `pairs` pairs (blocks) at COMPARE_ALPHA. 0 or a negative errno. With fewer than
 * COMPARE_PAIRS nothing is judged. */
int joint_judge(struct knobs_joint *all, size_t pairs, uint64_t seed);

/* Did enough blocks have a value of quantity i? */
bool joint_is_judged(const struct knobs_joint *all, size_t i);

void joint_free(struct knobs_joint *all);

#endif
