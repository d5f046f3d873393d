/*
 * What changed on a machine between two captures, such as those before and after a run.
 */
#ifndef KBLAT_STATE_BEFORE_AFTER_H
#define KBLAT_STATE_BEFORE_AFTER_H

#include <jansson.h>

struct err;

/*
 * {"schema": 1, "changed": [{"key", "before", "after", "class":
 * "fatal"|"warn"|"informative"|"volatile"}, ...]}. Counters (volatile) have a "delta". New
 * reference, or NULL and `e`.
 */
json_t *before_after_changes(const char *before_dir, const char *after_dir, struct err *e);

#endif
