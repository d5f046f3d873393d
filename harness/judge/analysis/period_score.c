#include "judge/analysis/period_score.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/npy.h"
#include "common/or_abort.h"
#include "common/sort.h"

/* --- order --- */

#define DIGIT_BITS 8
#define DIGITS	   (1u << DIGIT_BITS)

/* Maps signed numbers to unsigned ones in the same order. */
static uint64_t order_key(int64_t value)
{
	return (uint64_t)value ^ UINT64_C(1) << 63;
}

static unsigned digit_of(int64_t value, unsigned shift)
{
	return (unsigned)(order_key(value) >> shift) & (DIGITS - 1);
}

/* Stable sort by one digit. False: all values have the same digit, and nothing was done. */
static bool order_by_digit(const int64_t *values, size_t count, unsigned shift, const uint32_t *from, uint32_t *to)
{
	size_t place[DIGITS] = {0}, sum = 0;

	for (size_t i = 0; i < count; i++)
		place[digit_of(values[i], shift)]++;
	if (place[digit_of(values[0], shift)] == count)
		return false;
	for (size_t d = 0; d < DIGITS; d++) {
		const size_t here = place[d];

		place[d] = sum;
		sum += here;
	}
	for (size_t i = 0; i < count; i++)
		to[place[digit_of(values[from[i]], shift)]++] = from[i];
	return true;
}

void order_of(const int64_t *values, size_t count, uint32_t *order, uint32_t *spare)
{
	uint32_t *from = order, *to = spare;

	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	for (unsigned shift = 0; count && shift < 64; shift += DIGIT_BITS) {
		uint32_t *last = from;

		if (!order_by_digit(values, count, shift, from, to))
			continue;
		from = to;
		to = last;
	}
	if (from != order)
		memcpy(order, from, count * sizeof(*order));
}

/*
 * Finds what stands out in a power spectrum. The spectrum of noise that is correlated between
 * neighbouring values varies, but only slowly; exact repetition is a line.
 */

#define HALF_LEAST 2  /* entries on each side of a median: at low frequencies, where drift is steep */
#define HALF_MOST  32 /* the same at high frequencies */
#define STEP_MOST  16 /* entries that share a median */
#define AROUND	   (2 * HALF_MOST + STEP_MOST)
#define FLOOR	   1e-3 /* as a share of the mean: without noise there is nothing between lines */

static size_t clamp(size_t value, size_t least, size_t most)
{
	return value < least ? least : value > most ? most : value;
}

static double median_around(const double *power, size_t half_size, size_t first, size_t step)
{
	const size_t half = clamp(first / 2, HALF_LEAST, HALF_MOST);
	const size_t from = first > half ? first - half : 1;
	const size_t to = first + step + half < half_size ? first + step + half : half_size;
	double values[AROUND] = {0};
	size_t n = 0;

	for (size_t k = from; k < to; k++)
		values[n++] = power[k];
	sort_doubles(values, n);
	return values[n / 2];
}

static double sum_of(const double *power, size_t count)
{
	double sum = 0;

	for (size_t k = 1; k < count; k++)
		sum += power[k];
	return sum;
}

static void find_levels(const double *power, size_t half_size, double least, double *level)
{
	size_t step;

	for (size_t first = 1; first <= half_size; first += step) {
		const size_t left = half_size + 1 - first;
		double median;

		step = clamp(first / 4, 1, STEP_MOST);
		median = fmax(median_around(power, half_size, first, step), least);

		for (size_t k = 0; k < step && k < left; k++)
			level[first + k] = median;
	}
}

/*
 * Divide each entry of a symmetric power spectrum of `size` entries (a power of two) by the median
 * of up to 80 entries around it. The mean of all entries is preserved. Entry 0 is ignored.
 * `medians`, of as many entries, gets these; entry 0 is 0.
 */
static void whitening_divide(double *power, size_t size, double *medians)
{
	const size_t half_size = size / 2;
	const double before = sum_of(power, size);
	double scale;

	memset(medians, 0, size * sizeof(*medians));
	if (before <= 0)
		return;
	find_levels(power, half_size, FLOOR * before / (double)size, medians);
	for (size_t k = 1; k <= half_size; k++)
		power[k] = power[size - k] = power[k] / medians[k];
	scale = before / sum_of(power, size);
	for (size_t k = 1; k < size; k++)
		power[k] *= scale;
	for (size_t k = 1; k <= half_size; k++)
		medians[size - k] = medians[k];
}

/*
 * The discrete Fourier transform, as far as it is needed to find periods.
 */

/* Transforms of one size. */
struct fourier {
	size_t size;	     /* a power of two */
	double *real, *imag; /* the data, transformed in place */
	double *cosine;	     /* of -2 pi k / size, for the first half */
	double *sine;
};

static void fourier_init(struct fourier *f, size_t size)
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

static void fourier_free(struct fourier *f)
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

/* X[k] = sum of x[i] exp(-2 pi sqrt(-1) i k / size). O(size log size). */
static void fourier_transform(struct fourier *f)
{
	fourier_reverse(f);
	for (size_t half = 1; half < f->size; half *= 2)
		for (size_t first = 0; first < f->size; first += 2 * half)
			fourier_join(f, first, half);
}

/* --- ranks --- */

struct ranking {
	uint32_t order[PERIOD_PIECE], spare[PERIOD_PIECE];
};

/* Equal values share the mean of their ranks. */
static void rank_values(struct ranking *r, const int64_t *values, size_t count, double *ranks)
{
	order_of(values, count, r->order, r->spare);
	for (size_t i = 0, next; i < count; i = next) {
		for (next = i; next < count && values[r->order[next]] == values[r->order[i]]; next++)
			;
		for (size_t k = i; k < next; k++)
			ranks[r->order[k]] = (double)(i + next - 1) / 2;
	}
}

/* Scale to mean 0 and variance 1 over the existing entries; all 0 if they are equal. */
static void standardise(const int64_t *values, size_t count, double *ranks)
{
	double sum = 0, squares = 0, mean, scale;
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (values[i] != NEVER) {
			sum += ranks[i];
			n++;
		}
	mean = n ? sum / (double)n : 0;
	for (size_t i = 0; i < count; i++) {
		ranks[i] = values[i] == NEVER ? 0 : ranks[i] - mean;
		squares += ranks[i] * ranks[i];
	}
	scale = squares > 0 ? sqrt((double)n / squares) : 0;
	for (size_t i = 0; i < count; i++)
		ranks[i] *= scale;
}

static size_t pieces_of(size_t count)
{
	return (count + PERIOD_PIECE - 1) / PERIOD_PIECE;
}

static void add_piece(struct period_pieces *p, struct ranking *r, const int64_t *values, size_t count)
{
	double *ranks = p->held + p->entries;

	rank_values(r, values, count, ranks);
	standardise(values, count, ranks);
	p->list[p->count++] = (struct period_piece){ranks, count};
	p->entries += count;
	p->shortest = p->count == 1 || count < p->shortest ? count : p->shortest;
	p->longest = count > p->longest ? count : p->longest;
}

void period_pieces(const struct period_sequence *sequences, size_t count, struct period_pieces *out)
{
	struct ranking *r = or_abort(malloc(sizeof(*r)));
	size_t entries = 0, pieces = 0;

	for (size_t i = 0; i < count; i++) {
		entries += sequences[i].count;
		pieces += pieces_of(sequences[i].count);
	}
	*out = (struct period_pieces){
	    .list = or_abort(calloc(pieces + 1, sizeof(*out->list))),
	    .held = or_abort(calloc(entries + 1, sizeof(double))),
	};
	for (size_t i = 0; i < count; i++) {
		const size_t all = sequences[i].count, n = pieces_of(all);

		for (size_t k = 0; k < n; k++)
			add_piece(out, r, sequences[i].values + all * k / n, all * (k + 1) / n - all * k / n);
	}
	free(r);
}

void period_pieces_free(struct period_pieces *p)
{
	free(p->list);
	free(p->held);
}

/* --- scores --- */

/* Load two pieces at the same time, as real and imaginary part; shorter ones are padded with 0. */
static void load_piece(const struct period_pieces *pieces, size_t index, double *to, size_t size)
{
	const struct period_piece *p = index < pieces->count ? &pieces->list[index] : NULL;
	const size_t count = p ? p->count : 0;
	const double scale = count ? 1 / sqrt((double)count) : 0;

	for (size_t i = 0; i < count; i++)
		to[i] = p->ranks[i] * scale;
	memset(to + count, 0, (size - count) * sizeof(*to));
}

/* Add up the power spectra of all pieces, each divided by its length. */
static void sum_spectra(const struct period_pieces *pieces, struct fourier *f, double *power)
{
	for (size_t i = 0; i < pieces->count; i += 2) {
		load_piece(pieces, i, f->real, f->size);
		load_piece(pieces, i + 1, f->imag, f->size);
		fourier_transform(f);
		/* Of x + y sqrt(-1): the cross terms of k and -k cancel out. */
		for (size_t k = 0; k < f->size; k++)
			power[k] += f->real[k] * f->real[k] + f->imag[k] * f->imag[k];
	}
	for (size_t k = 0; k <= f->size / 2; k++) {
		const size_t other = (f->size - k) % f->size;

		power[k] = power[other] = (power[k] + power[other]) / 2;
	}
}

/* The sum of the squared sums of a fold by P is the sum of the autocorrelation at 0, P, 2 P, … */
static double sum_fold(const double *autocorrelation, unsigned period, size_t longest)
{
	double sum = autocorrelation[0];

	for (size_t lag = period; lag < longest; lag += period)
		sum += 2 * autocorrelation[lag];
	return sum * period;
}

/* For all periods, from a power spectrum. Period 1 is about the mean, which is part of the others. */
static void sum_folds(struct fourier *f, const double *power, size_t longest, unsigned most, double *explained)
{
	memcpy(f->real, power, f->size * sizeof(*power));
	memset(f->imag, 0, f->size * sizeof(*power));
	fourier_transform(f);
	for (unsigned p = 1; p <= most; p++)
		explained[p] = sum_fold(f->real, p, longest) / (double)f->size;
}

/* Without lines, power has a gamma distribution of as many degrees as there are pieces. What it has in the mean, if its
 * median is 1: Wilson and Hilferty (1931). */
static double mean_of_median(size_t pieces)
{
	return 1 / pow(1 - 1 / (9 * (double)pieces), 3);
}

static size_t size_for(size_t longest)
{
	size_t size = 1;

	/* Twice as long, to avoid wrapping around. */
	while (size < 2 * longest)
		size *= 2;
	return size;
}

void period_score(const struct period_pieces *pieces, struct period_scores *out)
{
	const size_t most = pieces->count ? pieces->shortest / PERIOD_CYCLES : 0;
	struct fourier f;
	double *power, *medians;

	out->most = most > PERIOD_MAX ? PERIOD_MAX : most < 2 ? 0 : (unsigned)most;
	out->entries = (double)pieces->entries;
	if (!out->most)
		return;
	fourier_init(&f, size_for(pieces->longest));

	power = or_abort(calloc(2 * f.size, sizeof(*power)));
	medians = power + f.size;
	sum_spectra(pieces, &f, power);
	sum_folds(&f, power, pieces->longest, out->most, out->explained);
	whitening_divide(power, f.size, medians);
	sum_folds(&f, power, pieces->longest, out->most, out->in_white);
	sum_folds(&f, medians, pieces->longest, out->most, out->by_chance);
	for (unsigned p = 2; p <= out->most; p++) {
		out->by_chance[p] = (out->by_chance[p] - out->by_chance[1]) * mean_of_median(pieces->count);
		out->freedom[p] = (double)pieces->count * (p - 1);
	}
	free(power);
	fourier_free(&f);
}

double period_evidence(double explained, double freedom)
{
	if (explained <= freedom || freedom <= 0)
		return 0;
	return (explained - freedom - freedom * log(explained / freedom)) / 2;
}
