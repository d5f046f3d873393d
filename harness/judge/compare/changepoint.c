#include "judge/compare/changepoint.h"

#include <math.h>
#include <stdlib.h>

#include "common/or_abort.h"
#include "common/sort.h"

#define PENALTY	    3	   /* times log n, for the mean and the position of a change */
#define NORMAL_MAD  0.6745 /* median |x| of a standard normal distribution */
#define NORMAL_MEAN 0.7979 /* mean |x| */

/*
 * The variance of the noise, from differences of neighbours, whose variance is twice as large. If most neighbours are
 * equal (time that is counted in instructions repeats to the last digit), their mean says how large differences are.
 */
static double noise_variance(const double *value, size_t n)
{
	double *differences = or_abort(malloc(n * sizeof(*differences))), middle, sum = 0;

	for (size_t i = 0; i + 1 < n; i++)
		sum += differences[i] = fabs(value[i + 1] - value[i]);
	sort_doubles(differences, n - 1);
	middle = (differences[(n - 1) / 2] + differences[(n - 2) / 2]) / 2 / NORMAL_MAD;
	free(differences);
	if (middle <= 0)
		middle = sum / (double)(n - 1) / NORMAL_MEAN;
	return middle * middle / 2;
}

/* Sums up to each index, of values minus the first one. */
struct sums {
	double *value, *square;
};

static double cost(const struct sums *s, size_t from, size_t to)
{
	double sum = s->value[to] - s->value[from];

	return fmax(0, s->square[to] - s->square[from] - sum * sum / (double)(to - from));
}

struct search {
	struct sums sums;
	double *best;	   /* minimum cost of the first i values */
	size_t *last;	   /* the start of their last segment */
	size_t *candidate; /* starts that may still be optimal */
	size_t candidates, least;
	double penalty;
};

/* Find the best last segment of the first `end` values; discard starts that can never be optimal again. */
static void segment_extend(struct search *s, size_t end)
{
	size_t kept = 0;

	s->best[end] = INFINITY;
	for (size_t k = 0; k < s->candidates; k++) {
		size_t start = s->candidate[k];
		double all =
		    end - start >= s->least ? s->best[start] + cost(&s->sums, start, end) + s->penalty : INFINITY;

		if (all < s->best[end]) {
			s->best[end] = all;
			s->last[end] = start;
		}
	}
	for (size_t k = 0; k < s->candidates; k++) {
		size_t start = s->candidate[k];

		if (end - start < s->least || s->best[start] + cost(&s->sums, start, end) <= s->best[end])
			s->candidate[kept++] = start;
	}
	s->candidates = kept;
	s->candidate[s->candidates++] = end;
}

static void segment_sums(struct search *s, const double *value, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double about = value[i] - value[0];

		s->sums.value[i + 1] = s->sums.value[i] + about;
		s->sums.square[i + 1] = s->sums.square[i] + about * about;
	}
}

static size_t walk_back(const struct search *s, size_t n, size_t *changes)
{
	size_t count = 0;

	for (size_t at = s->last[n]; at; at = s->last[at])
		changes[count++] = at;
	for (size_t i = 0; i < count / 2; i++) {
		size_t other = changes[count - 1 - i];

		changes[count - 1 - i] = changes[i];
		changes[i] = other;
	}
	return count;
}

size_t changepoints(const double *value, size_t n, size_t least, size_t *changes)
{
	double variance = n > 2 ? noise_variance(value, n) : 0;
	struct search s = {
	    .sums = {or_abort(calloc(n + 1, sizeof(double))), or_abort(calloc(n + 1, sizeof(double)))},
	    .best = or_abort(calloc(n + 1, sizeof(double))),
	    .last = or_abort(calloc(n + 1, sizeof(size_t))),
	    .candidate = or_abort(calloc(n + 2, sizeof(size_t))),
	    .candidates = 1,
	    .least = least ? least : 1,
	    .penalty = PENALTY * log((double)(n ? n : 1)) * variance,
	};
	size_t count = 0;

	if (n >= 2 * s.least && variance > 0) {
		segment_sums(&s, value, n);
		s.best[0] = -s.penalty;
		for (size_t end = 1; end <= n; end++)
			segment_extend(&s, end);
		count = walk_back(&s, n, changes);
	}
	free(s.sums.value);
	free(s.sums.square);
	free(s.best);
	free(s.last);
	free(s.candidate);
	return count;
}
