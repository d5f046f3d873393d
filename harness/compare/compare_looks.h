/*
 * Interim looks at a comparison while units (boots or runs) are still being measured: it ends at
 * the first look that decides. Each look may use a part of alpha, and the parts add up to alpha. So
 * the probability that any of them gives a false alarm is at most alpha, however the looks depend
 * on each other (Bonferroni). The last look has the largest part, so that little power is lost if
 * all units are needed. Pure.
 */
#ifndef KBLAT_COMPARE_LOOKS_H
#define KBLAT_COMPARE_LOOKS_H

#include <stdbool.h>
#include <stddef.h>

#define LOOKS_MOST 3

struct look {
	size_t units; /* of each arm */
	double level; /* the part of alpha that it may use */
};

/*
 * The looks of a plan of `planned` units per arm, the last one at all of them. `least`: the
 * smallest number of units that allows a verdict. A look at which nothing could be found at its
 * level is left out, and its part goes to the last one. Returns the number of looks.
 */
size_t compare_looks(size_t planned, size_t least, bool pairs, double alpha, struct look looks[LOOKS_MOST]);

#endif
