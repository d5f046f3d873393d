#include "claims/claim_interval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"
#include "common/sort.h"

#define NORMAL_95 1.96 /* two-sided */
#define KEPT_MAX  2048 /* values per side: 4 million pairs */

static double divide(double a, double b)
{
	return b == 0 ? (a < 0 ? -INFINITY : INFINITY) : a / b;
}

static double subtract(double a, double b)
{
	return a - b;
}

static double keep_first(double a, double b)
{
	(void)b;
	return a;
}

static void include_value(struct estimate *e, double value)
{
	e->has_interval = true;
	e->low = fmin(e->low, value);
	e->high = fmax(e->high, value);
}

/* --- extremes --- */

static bool is_extreme(const struct sample *s)
{
	return s->over_reps == OVER_REPS_MIN || s->over_reps == OVER_REPS_MAX;
}

/* The extreme of all repetitions except for one. */
static double without(const struct sample *s, size_t left_out)
{
	bool is_max = s->over_reps == OVER_REPS_MAX;
	double extreme = is_max ? -INFINITY : INFINITY;

	for (size_t i = 0; i < s->reps; i++)
		if (i != left_out)
			extreme = is_max ? fmax(extreme, s->rep[i]) : fmin(extreme, s->rep[i]);
	return extreme;
}

static void leave_one_out(struct estimate *e, const struct sample *a, const struct sample *b,
			  double (*combine)(double, double))
{
	for (size_t i = 0; a->reps > 1 && i < a->reps; i++)
		include_value(e, combine(without(a, i), b->value));
	for (size_t i = 0; b != a && b->reps > 1 && i < b->reps; i++)
		include_value(e, combine(a->value, without(b, i)));
}

/* --- ranks --- */

/* Set the interval from the value of rank `rank` (from 1) to the one at the same distance from the end. */
static void reach_to_rank(struct estimate *e, double *values, size_t count, double rank)
{
	size_t from = rank < 1 ? 0 : (size_t)rank - 1;

	sort_doubles(values, count);
	include_value(e, values[from]);
	include_value(e, values[count - 1 - from]);
}

/* The largest rank below which the median lies in at most 2.5 % of samples of size n: binomial, or
 * normal if n is large. */
static double sign_rank(double n)
{
	double share = exp2(-n), below = 0, rank = 0;

	if (n > 50)
		return (n - NORMAL_95 * sqrt(n)) / 2;
	while (below + share <= 0.025) {
		below += share;
		rank++;
		share *= (n - rank + 1) / rank;
	}
	return rank;
}

static void rank_one(struct estimate *e, const struct sample *s)
{
	double *values = or_abort(malloc(s->reps * sizeof(*values)));

	for (size_t i = 0; i < s->reps; i++)
		values[i] = s->rep[i];
	reach_to_rank(e, values, s->reps, sign_rank((double)s->reps));
	free(values);
}

/* Sorted, so that one of several values can represent its neighbours. The caller frees. */
static double *sorted(const struct sample *s)
{
	double *values = or_abort(malloc(s->reps * sizeof(*values)));

	memcpy(values, s->rep, s->reps * sizeof(*values));
	sort_doubles(values, s->reps);
	return values;
}

/* The value in the middle of the `i`-th of `kept` equal parts. */
static double one_of(const double *values, size_t count, size_t i, size_t kept)
{
	return values[kept == count ? i : (size_t)(((double)i + 0.5) * (double)count / (double)kept)];
}

/* If there are very many repetitions, evenly spaced ones represent all, so that the pairs fit in
 * memory; the rank among all pairs is scaled to those made. */
static void rank_pairs(struct estimate *e, const struct sample *a, const struct sample *b,
		       double (*combine)(double, double))
{
	double n = (double)a->reps, m = (double)b->reps, *x = sorted(a), *y = sorted(b), *values;
	double rank = n * m / 2 - NORMAL_95 * sqrt(n * m * (n + m + 1) / 12);
	size_t rows = a->reps < KEPT_MAX ? a->reps : KEPT_MAX, columns = b->reps < KEPT_MAX ? b->reps : KEPT_MAX;
	size_t pairs = rows * columns;

	values = or_abort(malloc(pairs * sizeof(*values)));
	for (size_t i = 0; i < pairs; i++)
		values[i] = combine(one_of(x, a->reps, i / columns, rows), one_of(y, b->reps, i % columns, columns));
	reach_to_rank(e, values, pairs, rank * ((double)pairs / (n * m)));
	free(values);
	free(y);
	free(x);
}

/* --- estimates --- */

struct estimate estimate_value(const struct sample *s)
{
	struct estimate e = {s->value, false, s->value, s->value};

	if (is_extreme(s))
		leave_one_out(&e, s, s, keep_first);
	else if (s->over_reps == OVER_REPS_SPREAD && s->reps > 1)
		rank_one(&e, s);
	return e;
}

/* If a claim compares a median with a maximum, there is no interval. */
static struct estimate estimate_pair(const struct sample *a, const struct sample *b, double (*combine)(double, double))
{
	double value = combine(a->value, b->value);
	struct estimate e = {value, false, value, value};

	if (is_extreme(a) && is_extreme(b))
		leave_one_out(&e, a, b, combine);
	else if (a->over_reps == OVER_REPS_SPREAD && b->over_reps == OVER_REPS_SPREAD && a->reps && b->reps &&
		 a->reps + b->reps > 2)
		rank_pairs(&e, a, b, combine);
	return e;
}

struct estimate estimate_difference(const struct sample *a, const struct sample *b)
{
	return estimate_pair(a, b, subtract);
}

struct estimate estimate_ratio(const struct sample *a, const struct sample *b)
{
	return estimate_pair(a, b, divide);
}
