/*
 * The answer: a comparison of the runs of all boots that are complete, old and new in equal numbers.
 */
#ifndef KBLAT_BOOTS_JUDGE_H
#define KBLAT_BOOTS_JUDGE_H

#include "judge/compare/comparison.h"
#include "study/boots/boots_plan.h"

/* Are the options of the comparison right? */
int boots_check_choice(const struct boots_plan *p, struct err *e);

/* comparison_free() it. `page`: a new directory in which its page is made; NULL: none. There must be a boot of each. */
int boots_compare(const struct study *s, const char *page, struct comparison *c, struct err *e);

#endif
