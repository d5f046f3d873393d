/*
 * How two captured states differ, and what that means for latencies; a part of every comparison of two measurements.
 * Pure: nothing is read.
 */
#ifndef KBLAT_STATE_DIFF_H
#define KBLAT_STATE_DIFF_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct err;

/*
 * `a` and `b` are state documents (state_load). `varying` (NULL-terminated; may be NULL) names what
 * is meant to differ, being under test: a group ("idle"), a key or a pattern of keys
 * ("irq.*.affinity"), or one of under_test_names() ("kernel").
 *
 * `*differences` becomes an array, new reference, of {"key", "group", "class": "fatal"|"warn"|"informative", "a", "b"
 * (null: no such key), "meaning", "varying": bool}; fatal ones first, those under test after the others of their class,
 * then by key. What changes by itself (counters) is left out.
 *
 * 0, -EINVAL (no state document, or a name in `varying` that no key could have; STATUS_USAGE) or
 * -ENOMEM.
 */
int state_diff(const json_t *a, const json_t *b, const char *const *varying, json_t **differences, struct err *e);

/* The same, including what changes by itself, as class "volatile". */
int state_diff_all(const json_t *a, const json_t *b, const char *const *varying, json_t **differences, struct err *e);

/* The number of differences that forbid a comparison: those that are fatal and not under test. */
size_t state_diff_fatal(const json_t *differences);

#endif
