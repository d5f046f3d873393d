/*
 * The discrete Fourier transform, as far as it is needed to find periods.
 */
#ifndef KBLAT_ANALYSIS_FOURIER_H
#define KBLAT_ANALYSIS_FOURIER_H

#include <stddef.h>

/* Transforms of one size. */
struct fourier {
	size_t size;	     /* a power of two */
	double *real, *imag; /* the data, transformed in place */
	double *cosine;	     /* of -2 pi k / size, for the first half */
	double *sine;
};

void fourier_init(struct fourier *f, size_t size);
void fourier_free(struct fourier *f);

/* X[k] = sum of x[i] exp(-2 pi sqrt(-1) i k / size). O(size log size). */
void fourier_transform(struct fourier *f);

#endif
