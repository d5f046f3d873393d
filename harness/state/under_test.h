/*
 * What may differ between two machines because it is under test: groups, keys, patterns of keys, or names that stand
 * for several keys.
 */
#ifndef KBLAT_STATE_UNDER_TEST_H
#define KBLAT_STATE_UNDER_TEST_H

#include <stdbool.h>

/* Is `key` one of those that `name` stands for? `one_sided`: only one of the states has it. */
bool under_test_covers(const char *name, const char *key, bool one_sided);

/* Names that stand for several keys, NULL-terminated. */
const char *const *under_test_names(void);

#endif
