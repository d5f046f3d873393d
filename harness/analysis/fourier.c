#include "analysis/fourier.h"

#include <math.h>
#include <stdlib.h>

#include "common/or_abort.h"

void fourier_init(struct fourier *f, size_t size)
{
	*f = (struct fourier){.size = size};
	f->real = or_abort(calloc(2 * size, sizeof(double)));
	f->imag = f->real + size;
	f->cosine = or_abort(calloc(size + 2, sizeof(double)));
	f->sine = f->cosine + size / 2;
	for (size_t k = 0; k < size / 2; k++) {
		const double angle = -2 * M_PI * (double)k / (double)size;

		f->cosine[k] = cos(angle);
		f->sine[k] = sin(angle);
	}
}

void fourier_free(struct fourier *f)
{
	free(f->real);
	free(f->cosine);
}

static void fourier_swap(double *a, size_t i, size_t k)
{
	const double value = a[i];

	a[i] = a[k];
	a[k] = value;
}

/* Move entry i to the index with the bits of i in reverse order. */
static void fourier_reverse(struct fourier *f)
{
	for (size_t i = 0, k = 0; i < f->size; i++) {
		size_t bit = f->size >> 1;

		if (i < k) {
			fourier_swap(f->real, i, k);
			fourier_swap(f->imag, i, k);
		}
		for (; bit && k & bit; bit >>= 1)
			k &= ~bit;
		k |= bit;
	}
}

/* Combine the transforms of two halves of `half` entries each, from `first` on. */
static void fourier_join(struct fourier *f, size_t first, size_t half)
{
	double *const re = f->real + first, *const im = f->imag + first;
	const size_t step = f->size / (2 * half);

	for (size_t k = 0; k < half; k++) {
		const double c = f->cosine[k * step], s = f->sine[k * step];
		const double x = re[k + half] * c - im[k + half] * s, y = re[k + half] * s + im[k + half] * c;

		re[k + half] = re[k] - x;
		im[k + half] = im[k] - y;
		re[k] += x;
		im[k] += y;
	}
}

void fourier_transform(struct fourier *f)
{
	fourier_reverse(f);
	for (size_t half = 1; half < f->size; half *= 2)
		for (size_t first = 0; first < f->size; first += 2 * half)
			fourier_join(f, first, half);
}
