/*
 * What may have caused a difference: what made messages late in each arm, in which stage of their
 * way it arose, and how the machine's state differs between the runs. (What may cause noise: compare_noise.h.)
 */
#ifndef KBLAT_COMPARE_CAUSES_H
#define KBLAT_COMPARE_CAUSES_H

#include "judge/compare/compare_join.h"
#include "judge/compare/compare_rule.h"
#include "judge/compare/comparison.h"

/* Fill in what made messages late at the points of a result, if both arms were measured with
 * `explain`. */
void compare_late(const struct compare_join *j, struct comparison *c);

/*
 * Fill in how the state differs: every difference that is fatal to a comparison (files/state/diff.h)
 * between the first run of the base and any other. `varying` as for state_diff(); NULL: the kernel,
 * if the arms have different ones.
 */
int compare_state(const struct compare_runs *runs, const char *const *varying, struct comparison *c, struct err *e);

/* compare_judge() with all that may have caused a difference. 0, or a negative errno and `e`. */
int compare_judge_causes(const struct compare_join *j, const struct compare_rule *rule, const char *const *varying,
			 struct comparison *c, struct err *e);

#endif
