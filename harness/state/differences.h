/*
 * Where the keys of two states differ, and of which class each difference is. What changes.c and diff.c tell it from.
 */
#ifndef KBLAT_STATE_DIFFERENCES_H
#define KBLAT_STATE_DIFFERENCES_H

#include <jansson.h>
#include <stddef.h>

#include "state/sources.h"

struct difference {
	const char *key;
	json_t *a, *b; /* borrowed; NULL: no such key */
	enum state_class class;
};

struct differences {
	struct difference *items; /* by class, fatal first, then by key */
	size_t count;
};

/* Of two objects of keys, which must live as long as the result. 0 or -ENOMEM; free with differences_free. */
int differences_find(json_t *a, json_t *b, struct differences *d);
void differences_free(struct differences *d);

#endif
