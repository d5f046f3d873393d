/*
 * What stands out of its neighbourhood in a power spectrum: noise that is correlated from one value
 * to the next has a spectrum that rises and falls, but slowly; what repeats exactly is a line.
 */
#ifndef KBLAT_ANALYSIS_WHITENING_H
#define KBLAT_ANALYSIS_WHITENING_H

#include <stddef.h>

/*
 * Divide a symmetric power spectrum of `size` entries (a power of two) by the median around each
 * entry, over up to 80 of them. The mean over all stays as it was. Entry 0 is not looked at.
 */
void whitening_divide(double *power, size_t size);

#endif
