/*
 * The overall verdict of a comparison (compare_judge.h), and the sentence that states it.
 */
#ifndef KBLAT_COMPARE_ANSWER_H
#define KBLAT_COMPARE_ANSWER_H

#include <jansson.h>

#include "common/err.h"

/* Fill in "verdict" and "answer" from the rest of the result. */
void compare_answer(json_t *result);

/* STATUS_OK, STATUS_NO or STATUS_UNDECIDED. */
enum status compare_status(const json_t *result);

/* The confidence level of the intervals in per cent: 95. */
double compare_confidence(const json_t *result);

#endif
