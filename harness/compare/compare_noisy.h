/*
 * Is the machine too noisy to judge? It is where the first quantity of a point (of a series, the
 * median) varies so much that a change of the size of its margin cannot be told from noise.
 */
#ifndef KBLAT_COMPARE_NOISY_H
#define KBLAT_COMPARE_NOISY_H

#include "compare/compare_join.h"

/*
 * Add "noisy" to a result: null, or, of the point where noise is most of the margin, {"points": how
 * many are so, "point", "quantity", "noise_percent", "detectable_percent", "margin_percent",
 * "text": a sentence, "cause": null}. compare_cause() fills in the last.
 */
void compare_noisy(const struct compare_join *j, json_t *result);

#endif
