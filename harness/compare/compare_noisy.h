/*
 * Is the machine too noisy for a verdict? It is if the first quantity of a point (for a series, the
 * median) varies so much that a change of the size of its margin cannot be distinguished from
 * noise.
 */
#ifndef KBLAT_COMPARE_NOISY_H
#define KBLAT_COMPARE_NOISY_H

#include "compare/compare_join.h"

/*
 * Add "noisy" to a result: null, or for the point where the noise is largest in relation to the
 * margin, {"points": how many are noisy, "point", "quantity", "noise_percent",
 * "detectable_percent", "margin_percent", "text": a sentence, "cause": null}. compare_cause() fills
 * in the last.
 */
void compare_noisy(const struct compare_join *j, json_t *result);

#endif
