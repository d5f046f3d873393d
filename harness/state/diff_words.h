/*
 * How two values differ that are lists of words, such as the scheduler's features or the kernel's command line.
 */
#ifndef KBLAT_STATE_DIFF_WORDS_H
#define KBLAT_STATE_DIFF_WORDS_H

#include <jansson.h>
#include <stdbool.h>

/*
 * Words of `a` that `b` lacks, and the reverse, as arrays of strings, new references. False, and
 * nothing is set, where the two are no lists: a value that is no text, fewer than three words on
 * both sides, no word in common, or the same words in another order.
 */
bool diff_words(const json_t *a, const json_t *b, json_t **removed, json_t **added);

#endif
