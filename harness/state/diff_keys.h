/*
 * The keys in which two states differ, and the class of each difference. For diff.c and before_after.c.
 */
#ifndef KBLAT_STATE_DIFF_KEYS_H
#define KBLAT_STATE_DIFF_KEYS_H

#include <jansson.h>
#include <stddef.h>

#include "state/sources.h"

struct diff_key {
	const char *key;
	json_t *a, *b; /* borrowed; NULL: no such key */
	enum state_class class;
};

struct diff_keys {
	struct diff_key *items; /* by class, fatal first, then by key */
	size_t count;
};

/* Of two objects of keys, which must live as long as the result. 0 or -ENOMEM; free with
 * diff_keys_free. */
int diff_keys_find(json_t *a, json_t *b, struct diff_keys *d);
void diff_keys_free(struct diff_keys *d);

#endif
