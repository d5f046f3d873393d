/*
 * Splits a text without copying it.
 */
#ifndef KBLAT_STATE_PIECE_H
#define KBLAT_STATE_PIECE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of a text. */
struct piece {
	const char *p;
	size_t n;
};

/* Without blanks around it. */
struct piece piece_trim(struct piece t);

/* Cut the text up to `stop` (or all of it) off the front of `rest`. */
struct piece piece_cut(struct piece *rest, char stop);

/* The next line; false at the end. */
bool piece_line(struct piece *rest, struct piece *line);

/* The next word, n = 0 at the end. */
struct piece piece_word(struct piece *rest);

bool piece_is(struct piece t, const char *word);
bool piece_begins(struct piece t, const char *word);

/* Is all of it a decimal number that fits? */
bool piece_int(struct piece t, int64_t *value);

#endif
