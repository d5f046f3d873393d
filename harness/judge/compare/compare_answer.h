/*
 * The overall verdict of a comparison (compare_verdict.h), and the sentence that states it.
 */
#ifndef KBLAT_COMPARE_ANSWER_H
#define KBLAT_COMPARE_ANSWER_H

#include "judge/compare/comparison.h"

/* Fill in the verdict and the answer from the rest of the result. */
void compare_answer(struct comparison *c);

#endif
