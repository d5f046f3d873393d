#include "compare/compare_perm.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING    1e-9 /* statistics closer than this (relative) are equal */
#define NOISE_SHARE 0.95

/* --- one quantity under one relabelling --- */

/*
 * The units of a quantity that have a value, without the mean (which changes nothing but rounding).
 * Sums over those in the other arm are looked up, eight units at a time: there are tens of
 * thousands of relabellings.
 */
struct centred {
	const struct perm_plan *plan;
	double *value;	/* of pairs, the differences; 0 for a unit that is not there */
	double *sums;	/* [byte of a row][its value] */
	uint8_t *there; /* one bit a unit (a pair) that has a value */
	uint8_t *moved; /* of these, those that really are in the other arm */
	size_t units, base, with;
	double total, squares; /* of the values */
};

/* A difference of means under a relabelling, how much of a real shift of 1 would be left in it, and
 * 1 / (1/n + 1/m). */
struct contrast {
	double difference, share, scale;
};

static void set_there(struct centred *c, size_t unit, double value)
{
	c->value[unit] = value;
	c->there[unit / 8] |= (uint8_t)(1 << unit % 8);
	if (unit >= c->plan->base)
		c->moved[unit / 8] |= (uint8_t)(1 << unit % 8);
	c->units++;
	c->total += value;
	c->squares += value * value;
}

static void centre_pairs(struct centred *c, const double *value)
{
	for (size_t i = 0; i < c->plan->base; i++)
		if (!isnan(value[c->plan->base + i] - value[i]))
			set_there(c, i, value[c->plan->base + i] - value[i]);
	c->base = c->with = c->units;
}

static void centre_arms(struct centred *c, const double *value)
{
	size_t n = c->plan->base + c->plan->with;
	double sum = 0, mean;

	for (size_t i = 0; i < n; i++) {
		if (isnan(value[i]))
			continue;
		sum += value[i];
		c->base += i < c->plan->base;
		c->with += i >= c->plan->base;
	}
	mean = sum / (double)(c->base + c->with);
	for (size_t i = 0; i < n; i++)
		if (!isnan(value[i]))
			set_there(c, i, value[i] - mean);
}

static void tabulate(struct centred *c)
{
	for (size_t byte = 0; byte < c->plan->bytes; byte++)
		for (size_t bits = 1; bits < 256; bits++) {
			/* That without its lowest bit, and the unit of that bit. */
			size_t unit = 8 * byte + (size_t)__builtin_ctzl(bits);
			bool is_unit = unit < c->plan->base + c->plan->with;

			c->sums[256 * byte + bits] =
			    c->sums[256 * byte + (bits & (bits - 1))] + (is_unit ? c->value[unit] : 0);
		}
}

static int centre(struct centred *c, const struct perm_plan *plan, const double *value)
{
	*c = (struct centred){.plan = plan,
			      .value = calloc(plan->base + plan->with, sizeof(double)),
			      .sums = calloc(256 * plan->bytes, sizeof(double)),
			      .there = calloc(plan->bytes, 1),
			      .moved = calloc(plan->bytes, 1)};
	if (!c->value || !c->sums || !c->there || !c->moved)
		return -ENOMEM;
	if (plan->pairs)
		centre_pairs(c, value);
	else
		centre_arms(c, value);
	tabulate(c);
	return 0;
}

static void centre_free(struct centred *c)
{
	free(c->value);
	free(c->sums);
	free(c->there);
	free(c->moved);
}

/* A bit of the base's half: the pair is turned round. */
static struct contrast contrast_pairs(const struct centred *c, double sum, size_t turned)
{
	double n = (double)c->units;

	return (struct contrast){(c->total - 2 * sum) / n, (n - 2 * (double)turned) / n, n};
}

static struct contrast contrast_arms(const struct centred *c, double sum, size_t with, size_t moved)
{
	double m1 = (double)with, m0 = (double)(c->units - with);

	if (!with || with == c->units)
		return (struct contrast){0, 0, 0};
	return (struct contrast){sum / m1 - (c->total - sum) / m0, (double)moved / m1 - (double)(c->with - moved) / m0,
				 m1 * m0 / (m1 + m0)};
}

static struct contrast contrast_of(const struct centred *c, size_t i)
{
	const uint8_t *row = perm_row(c->plan, i);
	size_t with = 0, moved = 0;
	double sum = 0;

	for (size_t k = 0; k < c->plan->bytes; k++) {
		sum += c->sums[256 * k + row[k]];
		with += (size_t)__builtin_popcount(row[k] & c->there[k]);
		moved += (size_t)__builtin_popcount(row[k] & c->moved[k]);
	}
	return c->plan->pairs ? contrast_pairs(c, sum, with) : contrast_arms(c, sum, with, moved);
}

static double degrees_of_freedom(const struct centred *c)
{
	return (double)c->units - (c->plan->pairs ? 1 : 2);
}

/* The standard error of a relabelling's difference; 0 where nothing varies but the arms. */
static double error_of(const struct centred *c, const struct contrast *g)
{
	double within = c->squares - g->difference * g->difference * g->scale;

	return within <= c->squares * ROUNDING ? 0 : sqrt(within / degrees_of_freedom(c) / g->scale);
}

/* Student's |t| under a relabelling; infinite where nothing varies but the arms. */
static double student(const struct centred *c, const struct contrast *g)
{
	double error;

	if (g->difference * g->difference * g->scale <= c->squares * ROUNDING)
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
	return a >= b || a >= b * (1 - ROUNDING);
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
	if (1 - fabs(g->share) > ROUNDING)
		return;
	*low = -INFINITY;
	*high = INFINITY;
}

/* What is left where more than `allowed` relabellings (one of them the real one) must not speak
 * against a shift. */
static double end_at(const double *ends, size_t count, size_t allowed, double effect)
{
	return allowed < count ? ends[allowed] : effect;
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
		qsort(low, count, sizeof(*low), rising);
		qsort(high, count, sizeof(*high), falling);
		size_t alone = (size_t)floor(2 * alpha * (double)count + ROUNDING);

		q->low = fmin(end_at(low, count, allowed, q->effect), q->effect);
		q->high = fmax(end_at(high, count, allowed, q->effect), q->effect);
		q->low_alone = fmin(end_at(low, count, alone, q->effect), q->effect);
		q->high_alone = fmax(end_at(high, count, alone, q->effect), q->effect);
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

		if (centre(c, p, q[k].value))
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
	size_t allowed = (size_t)floor(alpha * (double)p->count + ROUNDING);
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
		centre_free(&j.centred[k]);
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
	if (differences && !centre(&c, &p, value)) {
		for (size_t i = 0; i < p.count; i++)
			differences[i] = fabs(contrast_of(&c, i).difference);
		qsort(differences, p.count, sizeof(*differences), rising);
		floor_of = differences[(size_t)ceil(NOISE_SHARE * (double)p.count) - 1];
	}
	centre_free(&c);
	free(differences);
	perm_plan_free(&p);
	return floor_of;
}
