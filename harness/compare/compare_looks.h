/*
 * Looks at a comparison while units (boots, or runs) are still being measured: it ends at the first
 * look that decides. Each has a part of alpha, and the parts add up to alpha: whatever the looks
 * have in common, the chance that any of them gives a false alarm is at most alpha (Bonferroni). The
 * last keeps most, so that little power is lost where all are needed. Pure.
 */
#ifndef KBLAT_COMPARE_LOOKS_H
#define KBLAT_COMPARE_LOOKS_H

#include <stdbool.h>
#include <stddef.h>

#define LOOKS_MOST 3

struct look {
	size_t units; /* of each arm */
	double level; /* of alpha, what it may use up */
};

/*
 * The looks of a plan of so many units an arm, the last at all of them; `least`: with fewer there is
 * no verdict. A look at which nothing could be found at its level is left out, and its part is the
 * last one's. Returns how many there are.
 */
size_t compare_looks(size_t planned, size_t least, bool pairs, double alpha, struct look looks[LOOKS_MOST]);

#endif
