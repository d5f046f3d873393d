/*
 * What else may have caused a difference: how the machine's state differs between the runs of a
 * comparison.
 */
#ifndef KBLAT_COMPARE_STATE_H
#define KBLAT_COMPARE_STATE_H

#include "compare/compare_runs.h"

/*
 * Add to a result "state", every difference that is fatal to a comparison (state/diff.h) between
 * the first run of the base and any other: [{"key", "group", "class", "a", "b", "meaning",
 * "varying", "where": "24 of 24 runs of NEW", and for lists of words "removed": [], "added": []}],
 * and "state_fatal", the number of those that are not under test. `varying` as for state_diff();
 * NULL: the kernel, if the arms have different ones.
 */
int compare_state(const struct compare_runs *runs, const char *const *varying, json_t *result, struct err *e);

#endif
