/*
 * What may have caused a difference: what made messages late in each arm, in which stage of their
 * way it arose, and how the machine's state differs between the runs. (What may cause noise: compare_noise.h.)
 */
#ifndef KBLAT_COMPARE_CAUSES_H
#define KBLAT_COMPARE_CAUSES_H

#include "judge/compare/compare_join.h"
#include "judge/compare/compare_rule.h"
#include "judge/compare/comparison.h"

/* compare_judge() with all that may have caused a difference. 0, or a negative errno and `e`. */
int compare_judge_causes(const struct compare_join *j, const struct compare_rule *rule, const char *const *varying,
			 struct comparison *c, struct err *e);

#endif
