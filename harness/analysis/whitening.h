/*
 * Finds what stands out in a power spectrum. The spectrum of noise that is correlated between
 * neighbouring values varies, but only slowly; exact repetition is a line.
 */
#ifndef KBLAT_ANALYSIS_WHITENING_H
#define KBLAT_ANALYSIS_WHITENING_H

#include <stddef.h>

/*
 * Divide each entry of a symmetric power spectrum of `size` entries (a power of two) by the median
 * of up to 80 entries around it. The mean of all entries is preserved. Entry 0 is ignored.
 * `medians`, of as many entries, gets these; entry 0 is 0.
 */
void whitening_divide(double *power, size_t size, double *medians);

#endif
