/*
 * Judges the blocks: every comparison uses the statistics of kblat compare (each block has a pair of runs; relabelling is
 * exact). All comparisons, with all points and quantities, share one limit (max-T), so the probability that any knob is
 * found to have an effect although none has is at most alpha.
 */
#ifndef KBLAT_KNOBS_JUDGE_H
#define KBLAT_KNOBS_JUDGE_H

#include "judge/compare/compare_join.h"
#include "judge/compare/compare_verdict.h"
#include "study/knobs/knobs_types.h"

struct err;

/* Which quantities of the runs are compared, and which changes are harmless. */
struct knobs_choice {
	struct compare_choice choice;
	struct compare_rule rule;
	const char **quantities; /* used by `choice` */
	struct compare_margin *margins;
};

/* From the plan, which must outlive `c`. Default quantities are p50 and p99 for a series, and all for a summary block.
 * STATUS_USAGE if something cannot be compared. Call choice_free() in any case. */
int choice_read(const struct knobs *k, struct knobs_choice *c, struct err *e);
void choice_free(struct knobs_choice *c);

/* Fill in the result of the plan; it stays empty if there are no blocks. 0 or a negative errno and `e`. */
int knobs_judge(struct study *s, const struct knobs_choice *c, struct err *e);

/* Compare two arms of a stage like kblat compare; comparison_free() the result. A negative errno and `e`: there is
 * none. */
int knobs_compare(const struct study *s, const char *stage, size_t base, size_t with, const struct knobs_choice *c,
		  struct comparison *out, struct err *e);

/*
 * Judges the quantities of many comparisons together: a relabelling swaps the arms of the same
 * blocks in all of them, and each quantity is compared with the largest statistic of all
 * (judge/compare/compare_perm.h). Pure: values in, verdicts out.
 */
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
