/*
 * Mutations of a tree of values.
 */
#ifndef KBLAT_TESTS_MUTATE_TREE_H
#define KBLAT_TESTS_MUTATE_TREE_H

#include <jansson.h>

#include "fuzz.h"

/* One to three changes, in place. Returns `root`. */
json_t *mutate_tree(json_t *root, const char *const *words);

#endif
