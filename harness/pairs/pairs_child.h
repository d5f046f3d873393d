/*
 * The `kblat run` of a pair: its arguments and its results.
 */
#ifndef KBLAT_PAIRS_CHILD_H
#define KBLAT_PAIRS_CHILD_H

#include <stdint.h>
#include <sys/types.h>

#include "pairs/pairs_record.h"

/* While it runs; what it prints is kept in memory. */
struct pairs_child {
	pid_t pid; /* 0: none */
	size_t pair;
	int out, complaints;
	int64_t began_ms;
};

/* The words after "kblat run SPEC" for that pair: an array of strings, a new reference. */
json_t *pairs_child_words(const struct pairs *p, size_t pair);

int pairs_child_begin(struct pairs_child *c, const struct pairs *p, size_t pair, struct err *e);

/* It has ended: its line of pairs.jsonl, a new reference. */
json_t *pairs_child_end(struct pairs_child *c, const struct pairs *p, int status);

/* The line of a pair that was not tried. */
json_t *pairs_child_line(const struct pairs *p, size_t pair, const char *state, const char *why);

#endif
