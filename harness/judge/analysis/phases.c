#include "judge/analysis/phases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/npy.h"
#include "common/or_abort.h"
#include "common/sort.h"
#include "judge/analysis/order.h"

#define SURE	      5	    /* minimum distance from the base, in errors, */
#define OF_THE_MOST   0.2   /* and as a share of the largest distance */
#define IQR_OF_SIGMA  1.349 /* of a normal distribution */
#define MEDIAN_ERROR  1.2533
#define GOOD_AS_IT_IS 0.9

/* The values of all phases, one phase after the other, each in ascending order. */
struct fold {
	int64_t *values;
	size_t *first; /* [period + 1] */
};

static unsigned phase_of(size_t i, unsigned shift, unsigned period)
{
	return (unsigned)((i + shift) % period);
}

static void count_phases(const struct period_sequence *s, const unsigned *shifts, size_t count, unsigned period,
			 size_t *first)
{
	for (size_t k = 0; k < count; k++)
		for (size_t i = 0; i < s[k].count; i++)
			first[phase_of(i, shifts[k], period) + 1] += s[k].values[i] != NEVER;
	for (unsigned p = 0; p < period; p++)
		first[p + 1] += first[p];
}

static void sort_values(int64_t *values, size_t n, uint32_t *order, int64_t *sorted)
{
	order_of(values, n, order, order + n);
	for (size_t i = 0; i < n; i++)
		sorted[i] = values[order[i]];
	memcpy(values, sorted, n * sizeof(*values));
}

static void sort_phases(struct fold *f, unsigned period)
{
	const size_t all = f->first[period] + 1;
	uint32_t *order = or_abort(calloc(2 * all, sizeof(*order)));
	int64_t *sorted = or_abort(calloc(all, sizeof(*sorted)));

	for (unsigned p = 0; p < period; p++)
		sort_values(f->values + f->first[p], f->first[p + 1] - f->first[p], order, sorted);
	free(order);
	free(sorted);
}

static void fold_make(struct fold *f, const struct period_sequence *s, const unsigned *shifts, size_t count,
		      unsigned period)
{
	size_t *next = or_abort(calloc(period, sizeof(*next)));

	f->first = or_abort(calloc(period + 1, sizeof(*f->first)));
	count_phases(s, shifts, count, period, f->first);
	f->values = or_abort(calloc(f->first[period] + 1, sizeof(*f->values)));
	memcpy(next, f->first, period * sizeof(*next));
	for (size_t k = 0; k < count; k++)
		for (size_t i = 0; i < s[k].count; i++) {
			const unsigned p = phase_of(i, shifts[k], period);

			if (s[k].values[i] != NEVER)
				f->values[next[p]++] = s[k].values[i];
		}
	sort_phases(f, period);
	free(next);
}

static void fold_free(struct fold *f)
{
	free(f->values);
	free(f->first);
}

static int64_t at_rank(const int64_t *sorted, size_t n, double p)
{
	const double rank = ceil(p * (double)n);

	return n ? sorted[rank < 1 ? 0 : (size_t)rank - 1] : 0;
}

/* The median of the phases that have values; the lower one of two, so that the result is not
 * between two groups if half of the phases stand out. */
static double median_of_phases(const struct phases *p, double (*number)(const struct phase *, const void *),
			       const void *arg)
{
	double *all = or_abort(malloc((p->period + 1) * sizeof(*all))), median;
	size_t n = 0;

	for (unsigned i = 0; i < p->period; i++)
		if (p->phase[i].n)
			all[n++] = number(&p->phase[i], arg ? (const double *)arg + i : NULL);
	sort_doubles(all, n);
	median = n ? all[(n - 1) / 2] : 0;
	free(all);
	return median;
}

static double number_p50(const struct phase *phase, const void *arg)
{
	(void)arg;
	return (double)phase->p50;
}

static double number_error(const struct phase *phase, const void *iqr)
{
	return MEDIAN_ERROR * *(const double *)iqr / IQR_OF_SIGMA / sqrt((double)phase->n);
}

static double deviation(const struct phases *p, unsigned i)
{
	return p->phase[i].n ? (double)p->phase[i].p50 - (double)p->base : 0;
}

static void judge_phases(struct phases *p)
{
	double most = 0, least;

	for (unsigned i = 0; i < p->period; i++)
		most = fmax(most, fabs(deviation(p, i)));
	least = fmax(SURE * p->error, OF_THE_MOST * most);
	for (unsigned i = 0; i < p->period; i++) {
		const double d = deviation(p, i);

		p->phase[i].out = d > least ? 1 : d < -least ? -1 : 0;
	}
}

void phases_fold(const struct period_sequence *sequences, const unsigned *shifts, size_t count, unsigned period,
		 struct phases *out)
{
	double *iqr = or_abort(calloc(period, sizeof(*iqr)));
	struct fold f;

	fold_make(&f, sequences, shifts, count, period);
	*out = (struct phases){.period = period, .phase = or_abort(calloc(period, sizeof(*out->phase)))};
	for (unsigned p = 0; p < period; p++) {
		const int64_t *sorted = f.values + f.first[p];
		const size_t n = f.first[p + 1] - f.first[p];

		out->phase[p] =
		    (struct phase){n, at_rank(sorted, n, 0.1), at_rank(sorted, n, 0.5), at_rank(sorted, n, 0.9), 0};
		iqr[p] = (double)at_rank(sorted, n, 0.75) - (double)at_rank(sorted, n, 0.25);
	}
	out->base = (int64_t)median_of_phases(out, number_p50, NULL);
	out->error = median_of_phases(out, number_error, iqr);
	judge_phases(out);
	free(iqr);
	fold_free(&f);
}

void phases_free(struct phases *p)
{
	free(p->phase);
	*p = (struct phases){0};
}

/* --- several repetitions --- */

static double correlate(const struct phases *a, const struct phases *b, unsigned shift)
{
	double sum = 0;

	for (unsigned i = 0; i < b->period; i++)
		sum += deviation(a, (i + shift) % a->period) * deviation(b, i);
	return sum;
}

static unsigned best_shift(const struct phases *to, const struct phases *of)
{
	double best = correlate(to, of, 0) / GOOD_AS_IT_IS;
	unsigned shift = 0;

	for (unsigned i = 1; i < to->period; i++) {
		const double c = correlate(to, of, i);

		if (c > best) {
			best = c;
			shift = i;
		}
	}
	return shift;
}

void phases_align(const struct period_sequence *sequences, size_t count, unsigned period, unsigned *shifts)
{
	struct phases first, other;

	for (size_t k = 0; k < count; k++)
		shifts[k] = 0;
	if (count < 2)
		return;
	phases_fold(sequences, shifts, 1, period, &first);
	for (size_t k = 1; k < count; k++) {
		phases_fold(sequences + k, shifts, 1, period, &other);
		shifts[k] = best_shift(&first, &other);
		phases_free(&other);
	}
	phases_free(&first);
}

void phases_subtract(const struct phases *p, struct period_sequence *sequences, const unsigned *shifts, size_t count)
{
	for (size_t k = 0; k < count; k++)
		for (size_t i = 0; i < sequences[k].count; i++) {
			const struct phase *phase = &p->phase[phase_of(i, shifts[k], p->period)];
			int64_t *value = &sequences[k].values[i];

			if (*value != NEVER)
				*value -= phase->p50 - p->base;
		}
}
