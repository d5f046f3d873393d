/*
 * How two captured states differ, and what that means for latencies; a part of every comparison of two measurements.
 * Pure: nothing is read.
 */
#ifndef KBLAT_STATE_DIFF_H
#define KBLAT_STATE_DIFF_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "files/state/sources.h"

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
 * 0, -EINVAL (no state document, or a name in `varying` that no key could have; STATUS_USAGE).
 */
int state_diff(const json_t *a, const json_t *b, const char *const *varying, json_t **differences, struct err *e);

/* The same, including what changes by itself, as class "volatile". */
int state_diff_all(const json_t *a, const json_t *b, const char *const *varying, json_t **differences, struct err *e);

/* The number of differences that forbid a comparison: those that are fatal and not under test. */
size_t state_diff_fatal(const json_t *differences);

/*
 * Words of `a` that `b` lacks, and the reverse, as arrays of strings, new references. False, and
 * nothing is set, where the two are no lists: a value that is no text, fewer than three words on
 * both sides, no word in common, or the same words in another order.
 */
bool diff_words(const json_t *a, const json_t *b, json_t **removed, json_t **added);

/*
 * What changed on a machine between two captures, such as those before and after a run:
 * {"schema": 1, "changed": [{"key", "before", "after", "class":
 * "fatal"|"warn"|"informative"|"volatile"}, ...]}. Counters (volatile) have a "delta". New
 * reference, or NULL and `e`.
 */
json_t *before_after_changes(const char *before_dir, const char *after_dir, struct err *e);

/* Print the result of state_diff on standard output, by class and group; CPUs with the same difference share a line. */
void diff_print(const json_t *differences);

/* How a difference in `key` affects latencies: a phrase, or "". Static. */
const char *latency_effect(const char *key);

#endif
