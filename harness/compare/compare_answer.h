/*
 * The whole verdict of a comparison (compare_judge.h), and the sentence that says it.
 */
#ifndef KBLAT_COMPARE_ANSWER_H
#define KBLAT_COMPARE_ANSWER_H

#include <jansson.h>

#include "common/err.h"

/* Fill in "verdict" and "answer" from the rest. */
void compare_answer(json_t *result);

/* STATUS_OK, STATUS_NO or STATUS_UNDECIDED. */
enum status compare_status(const json_t *result);

/* Of the intervals, in per cent: 95. */
double compare_confidence(const json_t *result);

#endif
