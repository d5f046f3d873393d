#include "judge/compare/compare_perm.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"

#define NOISE_SHARE 0.95

static double degrees_of_freedom(const struct centred *c)
{
	return (double)c->units - (c->plan->pairs ? 1 : 2) - (double)c->trends;
}

/* The standard error of a relabelling's difference; 0 if there is no variation within the arms. */
static double error_of(const struct centred *c, const struct contrast *g)
{
	double within = c->squares - g->difference * g->difference * g->scale;

	return within <= c->squares * CONTRAST_ROUNDING ? 0 : sqrt(within / degrees_of_freedom(c) / g->scale);
}

/* Student's t under a relabelling; infinite if there is no variation within the arms. */
static double student(const struct centred *c, const struct contrast *g)
{
	double error;

	if (g->difference * g->difference * g->scale <= c->squares * CONTRAST_ROUNDING)
		return 0;
	error = error_of(c, g);
	return error > 0 ? g->difference / error : copysign(INFINITY, g->difference);
}

static bool is_at_least(double a, double b)
{
	return a >= b || a >= b * (1 - CONTRAST_ROUNDING);
}

/* --- the two sides --- */

/* The number of relabellings that may be significant on each side; the better side has one if both
 * together have two. For PERM_DIFFERS: on both sides together. */
static void perm_allow(size_t count, double alpha, enum perm_question question, size_t allowed[PERM_SIDES])
{
	size_t both = (size_t)floor(alpha * (double)count + CONTRAST_ROUNDING);
	size_t fifth = (size_t)(PERM_BETTER_SHARE * (double)both);

	allowed[PERM_BETTER] = question == PERM_DIFFERS ? both : both < 2 ? 0 : fifth ? fifth : 1;
	allowed[PERM_WORSE] = question == PERM_DIFFERS ? both : both - allowed[PERM_BETTER];
}

/* The part of alpha of a side. */
static double perm_share(const size_t allowed[PERM_SIDES], enum perm_question question, enum perm_side side)
{
	if (question == PERM_DIFFERS)
		return 1;
	if (allowed[side])
		return (double)allowed[side] / (double)(allowed[PERM_WORSE] + allowed[PERM_BETTER]);
	return side == PERM_BETTER ? PERM_BETTER_SHARE : 1 - PERM_BETTER_SHARE;
}

/* --- all relabellings --- */

static int falling(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

static int rising(const void *a, const void *b)
{
	return falling(b, a);
}

/* On a side with a small part of alpha, the interval of a quantity with a smaller weight could
 * never be finite. */
static double weight_of(const struct perm_quantity *q, enum perm_question question, double statistic)
{
	return question == PERM_DIFFERS || statistic > 0 ? q->weight : 1;
}

/* Student's t of every relabelling, positive if it is worse, times the quantity's weight. */
static void perm_statistics(const struct centred *c, const struct perm_quantity *q, enum perm_question question,
			    double *own)
{

	for (size_t i = 0; i < c->plan->count; i++) {
		struct contrast g = contrast_of(c, i);

		own[i] = q->less_is_worse ? -student(c, &g) : student(c, &g);
		own[i] *= weight_of(q, question, own[i]);
	}
}

static double on_side(double statistic, enum perm_side side)
{
	return side == PERM_WORSE ? statistic : -statistic;
}

/*
 * The shift from which on a relabelling has as large a difference as the real labelling, on the
 * same side: difference - share * shift >= effect - shift. More relabellings do as the shift
 * approaches the effect.
 */
static double end_of(const struct contrast *g, double effect, double none)
{
	double left = 1 - g->share;

	return left > CONTRAST_ROUNDING ? (effect - g->difference) / left : none;
}

/* The `at`-th value in the order of `compare`, from 0; values are reordered (Hoare 1961). */
static double select_nth(double *value, size_t count, size_t at, int (*compare)(const void *, const void *))
{
	size_t low = 0, high = count - 1;

	while (low < high) {
		double pivot = value[low + (high - low) / 2], swapped;
		size_t i = low, k = high;

		while (i <= k) {
			while (compare(&value[i], &pivot) < 0)
				i++;
			while (compare(&value[k], &pivot) > 0)
				k--;
			if (i > k)
				break;
			swapped = value[i];
			value[i++] = value[k];
			value[k] = swapped;
			if (!k--)
				break;
		}
		if (at <= k && k < count)
			high = k;
		else if (at >= i)
			low = i;
		else
			break;
	}
	return value[at];
}

/* The end of the interval: beyond it, at most `allowed` relabellings, including the real one, are
 * as extreme. */
static double end_at(double *ends, size_t count, size_t allowed, double effect,
		     int (*compare)(const void *, const void *))
{
	return allowed < count ? select_nth(ends, count, allowed, compare) : effect;
}

/* Ends on one side; `none` is the end for relabellings that cannot be distinguished from the real one. */
static double invert_side(const struct centred *c, const struct perm_quantity *q, double none, size_t allowed,
			  double *ends)
{
	for (size_t i = 0; i < c->plan->count; i++) {
		struct contrast g = contrast_of(c, i);

		ends[i] = end_of(&g, q->effect, none);
	}
	return end_at(ends, c->plan->count, allowed, q->effect, none < 0 ? rising : falling);
}

/* The joint interval, and the two ends for the quantity alone, each of which is wrong with
 * probability alpha. */
static int invert(const struct centred *c, struct perm_quantity *q, const size_t allowed[PERM_SIDES], double alpha)
{
	size_t count = c->plan->count, alone = (size_t)floor(alpha * (double)count + CONTRAST_ROUNDING);
	enum perm_side above = q->less_is_worse ? PERM_BETTER : PERM_WORSE;
	double *ends = large_alloc(count, sizeof(*ends));

	if (!ends)
		return -ENOMEM;
	/* If the quantity is shown to have increased, the lower end is above 0. */
	q->low = fmin(invert_side(c, q, -INFINITY, allowed[above], ends), q->effect);
	q->low_alone = fmin(end_at(ends, count, alone, q->effect, rising), q->effect);
	q->high = fmax(invert_side(c, q, INFINITY, allowed[!above], ends), q->effect);
	q->high_alone = fmax(end_at(ends, count, alone, q->effect, falling), q->effect);
	free(ends);
	return 0;
}

static size_t count_at_least(const double *statistics, size_t count, enum perm_side side, double real)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += is_at_least(on_side(statistics[i], side), real);
	return n;
}

struct joint {
	struct centred *centred;
	double alpha;
	enum perm_question question;
	size_t count, allowed[PERM_SIDES];
	/* The largest statistic under each relabelling; for the better side, its negative; for
	 * PERM_DIFFERS, the largest on any side, because two knobs may have effects in opposite
	 * directions. */
	double *most[PERM_SIDES];
	double critical[PERM_SIDES]; /* values to be exceeded */
};

/* The p-value on the side where it is smaller, relative to that side's part of alpha. */
static double p_of(const struct joint *j, double real)
{
	double p = 1;

	for (enum perm_side side = 0; side < PERM_SIDES; side++) {
		double n = (double)count_at_least(j->most[side], j->count, side, on_side(real, side));

		p = fmin(p, n / (double)j->count / perm_share(j->allowed, j->question, side));
	}
	return p;
}

/* The usual p-value of a permutation test: of one quantity without its weight, two-sided. */
static double two_sided(const struct joint *j, const struct perm_quantity *q, const double *own)
{
	double real = fabs(own[0]) / weight_of(q, j->question, own[0]);
	size_t n = 0;

	for (size_t i = 0; i < j->count; i++)
		n += is_at_least(fabs(own[i]) / weight_of(q, j->question, own[i]), real);
	return (double)n / (double)j->count;
}

static int judge_one(const struct joint *j, struct perm_quantity *q, const struct centred *c, double *own)
{
	size_t allowed[PERM_SIDES] = {0};

	if (c->squares == 0) {
		/* All values are equal: nothing has changed at all. */
		q->low = q->high = q->low_alone = q->high_alone = q->effect = 0;
		q->p = q->p_alone = 1;
		return 0;
	}
	perm_statistics(c, q, j->question, own);
	for (enum perm_side side = 0; side < PERM_SIDES; side++)
		for (size_t i = 0; i < j->count; i++) {
			double one = on_side(own[i], side);

			allowed[side] += one > j->critical[side] && !is_at_least(j->critical[side], one);
		}
	q->p = p_of(j, own[0]);
	q->p_alone = two_sided(j, q, own);
	q->level = (double)allowed[PERM_WORSE] / (double)j->count;
	return invert(c, q, allowed, j->alpha);
}

static int prepare(struct joint *j, const struct perm_plan *p, struct perm_quantity *q, size_t count, double *own)
{
	for (size_t k = 0; k < count; k++) {
		struct centred *c = &j->centred[k];

		if (contrast_centre(c, p, q[k].value))
			return -ENOMEM;
		q[k].known = c->base >= 2 && c->with >= 2;
		if (!q[k].known)
			continue;
		struct contrast real = contrast_of(c, 0);

		q[k].effect = real.difference;
		q[k].error = error_of(c, &real);
		q[k].df = degrees_of_freedom(c);
		q[k].drifts = c->trends;
		perm_statistics(c, &q[k], j->question, own);
		for (size_t i = 0; i < p->count; i++) {
			bool has_no_side = j->question == PERM_DIFFERS;

			j->most[PERM_WORSE][i] = fmax(j->most[PERM_WORSE][i], has_no_side ? fabs(own[i]) : own[i]);
			j->most[PERM_BETTER][i] = fmin(j->most[PERM_BETTER][i], has_no_side ? -fabs(own[i]) : own[i]);
		}
	}
	return 0;
}

/* Find the critical value of a side, which the largest statistic exceeds as often as permitted. */
static void find_critical(struct joint *j, enum perm_side side, double *sorted)
{
	for (size_t i = 0; i < j->count; i++)
		sorted[i] = on_side(j->most[side][i], side);
	j->critical[side] = select_nth(sorted, j->count, j->allowed[side], falling);
}

int perm_judge(const struct perm_plan *p, struct perm_quantity *q, size_t count, double alpha,
	       enum perm_question question)
{
	struct joint j = {.centred = large_alloc(count + 1, sizeof(*j.centred)),
			  .alpha = alpha,
			  .question = question,
			  .count = p->count};
	double *own = large_alloc(p->count, sizeof(*own));
	int rc;

	perm_allow(p->count, alpha, question, j.allowed);
	for (enum perm_side side = 0; side < PERM_SIDES; side++)
		j.most[side] = large_alloc(p->count, sizeof(double));
	rc = j.centred && j.most[PERM_WORSE] && j.most[PERM_BETTER] && own ? prepare(&j, p, q, count, own) : -ENOMEM;
	for (enum perm_side side = 0; !rc && side < PERM_SIDES; side++)
		find_critical(&j, side, own);
	for (size_t k = 0; !rc && k < count; k++)
		if (q[k].known)
			rc = judge_one(&j, &q[k], &j.centred[k], own);
	for (size_t k = 0; j.centred && k < count; k++)
		contrast_free(&j.centred[k]);
	free(j.centred);
	free(j.most[PERM_WORSE]);
	free(j.most[PERM_BETTER]);
	free(own);
	return rc;
}

/* --- noise --- */

double perm_noise_floor(const double *value, size_t count, uint64_t seed)
{
	struct perm_plan p;
	struct centred c = {0};
	double *differences, floor_of = NAN;

	if (count < 4 || perm_plan_make(&p, count / 2, count - count / 2, false, PERM_MAX, seed))
		return NAN;
	differences = large_alloc(p.count, sizeof(*differences));
	if (differences && !contrast_centre(&c, &p, value)) {
		for (size_t i = 0; i < p.count; i++)
			differences[i] = fabs(contrast_of(&c, i).difference);
		qsort(differences, p.count, sizeof(*differences), rising);
		floor_of = differences[(size_t)ceil(NOISE_SHARE * (double)p.count) - 1];
	}
	contrast_free(&c);
	free(differences);
	perm_plan_free(&p);
	return floor_of;
}
