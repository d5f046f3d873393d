#include "compare/compare_perm.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/compare_contrast.h"

#define NOISE_SHARE 0.95

static double degrees_of_freedom(const struct centred *c)
{
	return (double)c->units - (c->plan->pairs ? 1 : 2) - (double)c->trends;
}

/* The standard error of a relabelling's difference; 0 where nothing varies but the arms. */
static double error_of(const struct centred *c, const struct contrast *g)
{
	double within = c->squares - g->difference * g->difference * g->scale;

	return within <= c->squares * CONTRAST_ROUNDING ? 0 : sqrt(within / degrees_of_freedom(c) / g->scale);
}

/* Student's |t| under a relabelling; infinite where nothing varies but the arms. */
static double student(const struct centred *c, const struct contrast *g)
{
	double error;

	if (g->difference * g->difference * g->scale <= c->squares * CONTRAST_ROUNDING)
		return 0;
	error = error_of(c, g);
	return error > 0 ? fabs(g->difference) / error : INFINITY;
}

static double statistic(const struct centred *c, double weight, size_t row)
{
	struct contrast g = contrast_of(c, row);

	return weight * student(c, &g);
}

static bool is_at_least(double a, double b)
{
	return a >= b || a >= b * (1 - CONTRAST_ROUNDING);
}

/* --- all of them --- */

static int falling(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

static int rising(const void *a, const void *b)
{
	return falling(b, a);
}

/* Weighted statistics under every relabelling, and the largest so far. */
static void perm_add_statistics(const struct centred *c, double weight, double *own, double *most)
{
	for (size_t i = 0; i < c->plan->count; i++) {
		own[i] = statistic(c, weight, i);
		most[i] = fmax(most[i], own[i]);
	}
}

/*
 * Where a relabelling still gives as large a difference as the real one does, as the shift goes:
 * between two ends about the effect. |d - shift| <= |a - share * shift|.
 */
static void ends_of(const struct contrast *g, double effect, double *low, double *high)
{
	double one = (effect - g->difference) / (1 - g->share), other = (effect + g->difference) / (1 + g->share);

	*low = fmin(one, other);
	*high = fmax(one, other);
	if (1 - fabs(g->share) > CONTRAST_ROUNDING)
		return;
	*low = -INFINITY;
	*high = INFINITY;
}

/* The `at`-th in order of `compare`, counted from 0; the others change places (Hoare 1961). */
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

/* What is left where more than `allowed` relabellings (one of them the real one) must not speak
 * against a shift. */
static double end_at(double *ends, size_t count, size_t allowed, double effect,
		     int (*compare)(const void *, const void *))
{
	return allowed < count ? select_nth(ends, count, allowed, compare) : effect;
}

/* The joint interval, and the two ends of the quantity alone: of 10 %, so that each has 5 %. */
static int invert(const struct centred *c, struct perm_quantity *q, size_t allowed, double alpha)
{
	size_t count = c->plan->count;
	double *low = malloc(count * sizeof(*low)), *high = malloc(count * sizeof(*high));
	int rc = low && high ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < count; i++) {
		struct contrast g = contrast_of(c, i);

		ends_of(&g, q->effect, &low[i], &high[i]);
	}
	if (!rc) {
		size_t alone = (size_t)floor(2 * alpha * (double)count + CONTRAST_ROUNDING);

		q->low = fmin(end_at(low, count, allowed, q->effect, rising), q->effect);
		q->high = fmax(end_at(high, count, allowed, q->effect, falling), q->effect);
		q->low_alone = fmin(end_at(low, count, alone, q->effect, rising), q->effect);
		q->high_alone = fmax(end_at(high, count, alone, q->effect, falling), q->effect);
	}
	free(low);
	free(high);
	return rc;
}

static double share_at_least(const double *statistics, size_t count, double real)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += is_at_least(statistics[i], real);
	return (double)n / (double)count;
}

struct joint {
	struct centred *centred;
	double *most;	 /* the largest statistic under each relabelling */
	double *sorted;	 /* the same, falling */
	double critical; /* what must be surpassed */
};

static int judge_one(const struct joint *j, struct perm_quantity *q, const struct centred *c, double *own, double alpha)
{
	size_t count = c->plan->count, allowed = 0;

	if (c->squares == 0) {
		/* All the same everywhere: nothing was seen to move at all. */
		q->low = q->high = q->low_alone = q->high_alone = q->effect = 0;
		q->p = q->p_alone = 1;
		return 0;
	}
	for (size_t i = 0; i < count; i++) {
		own[i] = statistic(c, q->weight, i);
		allowed += own[i] > j->critical && !is_at_least(j->critical, own[i]);
	}
	q->p = share_at_least(j->most, count, own[0]);
	q->p_alone = share_at_least(own, count, own[0]);
	q->level = (double)allowed / (double)count;
	return invert(c, q, allowed, alpha);
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
		perm_add_statistics(c, q[k].weight, own, j->most);
	}
	return 0;
}

int perm_judge(const struct perm_plan *p, struct perm_quantity *q, size_t count, double alpha)
{
	struct joint j = {.centred = calloc(count + 1, sizeof(*j.centred)), .most = calloc(p->count, sizeof(double))};
	double *own = malloc(p->count * sizeof(*own));
	size_t allowed = (size_t)floor(alpha * (double)p->count + CONTRAST_ROUNDING);
	int rc = j.centred && j.most && own ? prepare(&j, p, q, count, own) : -ENOMEM;

	j.sorted = malloc(p->count * sizeof(*j.sorted));
	if (!j.sorted)
		rc = -ENOMEM;
	if (!rc) {
		memcpy(j.sorted, j.most, p->count * sizeof(*j.sorted));
		qsort(j.sorted, p->count, sizeof(*j.sorted), falling);
		j.critical = j.sorted[allowed < p->count ? allowed : p->count - 1];
	}
	for (size_t k = 0; !rc && k < count; k++)
		if (q[k].known)
			rc = judge_one(&j, &q[k], &j.centred[k], own, alpha);
	for (size_t k = 0; j.centred && k < count; k++)
		contrast_free(&j.centred[k]);
	free(j.centred);
	free(j.most);
	free(j.sorted);
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
	differences = malloc(p.count * sizeof(*differences));
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
