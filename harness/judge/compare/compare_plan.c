#include "judge/compare/compare_perm.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"
#include "common/random.h"

#define DRIFT_UNITS    8 /* fewer show no drift */
#define LINE_UNITS     12
#define PARABOLA_UNITS 16
#define ALTERNATED     0.2 /* if one arm comes after the other, the distance is 1 */
#define DRIFT_F	       2.8 /* exceeded in about one of ten cases without a drift */

/* The number of relabellings, or a number above any limit. */
static double all_ways(size_t base, size_t with, bool pairs)
{
	double ways = 1;

	if (pairs)
		return exp2((double)base);
	for (size_t i = 1; i <= base; i++)
		ways = ways * (double)(with + i) / (double)i;
	return round(ways);
}

double perm_least_p(size_t base, size_t with, bool pairs)
{
	return 1 / all_ways(base, with, pairs);
}

/* The bits of a relabelling, `bytes` long. */
static const uint8_t *perm_row(const struct perm_plan *p, size_t i)
{
	return p->bits + i * p->bytes;
}

/* Record which units are in the other arm, one bit per unit. */
static void perm_put_row(struct perm_plan *p, size_t i, const uint8_t *labels)
{
	uint8_t *row = p->bits + i * p->bytes;

	for (size_t u = 0; u < p->base + p->with; u++)
		row[u / 8] |= (uint8_t)(labels[u] << u % 8);
}

/* Advance to the next choice of units for the other arm; the first choice is the first units.
 * False: it was the last one. */
static bool next_choice(uint8_t *labels, size_t n)
{
	size_t i = n, ones = 0;

	while (i && labels[i - 1])
		i--, ones++;
	while (i && !labels[i - 1])
		i--;
	if (!i)
		return false;
	/* A 1 moves on by one position, and all ones after it follow directly. */
	memset(labels + i - 1, 0, n - i + 1);
	memset(labels + i, 1, ones + 1);
	return true;
}

static void fill_all_choices(struct perm_plan *p, const uint8_t *real)
{
	uint8_t next[PERM_UNITS] = {0};
	size_t row = 1;

	memset(next, 1, p->with);
	do {
		if (memcmp(next, real, p->base + p->with) != 0)
			perm_put_row(p, row++, next);
	} while (next_choice(next, p->base + p->with));
}

static void turn_pair(uint8_t *labels, size_t pairs, size_t i)
{
	labels[i] ^= 1;
	labels[pairs + i] ^= 1;
}

static void fill_all_turns(struct perm_plan *p, const uint8_t *real)
{
	for (size_t row = 1; row < p->count; row++) {
		uint8_t labels[PERM_UNITS];

		memcpy(labels, real, sizeof(labels));
		for (size_t i = 0; i < p->base; i++)
			if (row >> i & 1)
				turn_pair(labels, p->base, i);
		perm_put_row(p, row, labels);
	}
}

static void draw(struct perm_plan *p, size_t row, const uint8_t *real, uint64_t *state)
{
	uint8_t labels[PERM_UNITS];

	memcpy(labels, real, sizeof(labels));
	for (size_t i = 0; p->pairs && i < p->base; i++)
		if (random_below(state, 2))
			turn_pair(labels, p->base, i);
	for (size_t i = p->base + p->with; !p->pairs && i > 1; i--) {
		size_t k = random_below(state, i);
		uint8_t label = labels[i - 1];

		labels[i - 1] = labels[k];
		labels[k] = label;
	}
	perm_put_row(p, row, labels);
}

int perm_plan_make(struct perm_plan *p, size_t base, size_t with, bool pairs, size_t most, uint64_t seed)
{
	double ways = all_ways(base, with, pairs);
	uint8_t real[PERM_UNITS] = {0};
	uint64_t state = seed;

	*p = (struct perm_plan){.base = base, .with = with, .pairs = pairs, .seed = seed};
	if (!base || !with || (pairs && base != with) || base + with > PERM_UNITS)
		return -EINVAL;
	p->exact = ways <= (double)most;
	p->count = p->exact ? (size_t)ways : most;
	p->bytes = (base + with + 7) / 8;
	p->bits = large_alloc(p->count, p->bytes);
	if (!p->bits)
		return -ENOMEM;
	memset(real + base, 1, with);
	perm_put_row(p, 0, real);
	if (!p->exact)
		for (size_t row = 1; row < p->count; row++)
			draw(p, row, real, &state);
	else if (pairs)
		fill_all_turns(p, real);
	else
		fill_all_choices(p, real);
	return 0;
}

void perm_plan_free(struct perm_plan *p)
{
	free(p->bits);
	free(p->when);
	p->bits = NULL;
	p->when = NULL;
}

/* The distance between the arms' mean times, as a share of half of the total time. */
static double distance_of_arms(const struct perm_plan *p)
{
	double sum[2] = {0};

	for (size_t u = 0; u < p->base + p->with; u++)
		sum[u >= p->base] += p->when[u];
	return fabs(sum[1] / (double)p->with - sum[0] / (double)p->base);
}

int perm_plan_drift(struct perm_plan *p, const double *when)
{
	size_t n = p->base + p->with;
	double least = INFINITY, most = -INFINITY;

	for (size_t u = 0; u < n; u++) {
		least = fmin(least, when[u]);
		most = fmax(most, when[u]);
	}
	if (p->pairs || n < DRIFT_UNITS || !(most > least))
		return 0;
	p->when = large_alloc(n, sizeof(*p->when));
	if (!p->when)
		return -ENOMEM;
	for (size_t u = 0; u < n; u++)
		p->when[u] = 2 * (when[u] - least) / (most - least) - 1;
	p->one_after_other = distance_of_arms(p) > ALTERNATED;
	if (!p->one_after_other && n >= LINE_UNITS)
		p->trends = n < PARABOLA_UNITS ? 1 : 2;
	return 0;
}

bool perm_label(const struct perm_plan *p, size_t i, size_t unit)
{
	return p->bits[i * p->bytes + unit / 8] >> unit % 8 & 1;
}

/* --- a quantity under one relabelling --- */

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

/* Sums over the units of each byte of a row; NULL: no memory. */
static double *tabulate(const struct perm_plan *plan, const double *value)
{
	double *sums = large_alloc(256 * plan->bytes, sizeof(*sums));

	for (size_t byte = 0; sums && byte < plan->bytes; byte++)
		for (size_t bits = 1; bits < 256; bits++) {
			/* The sum for the byte without its lowest bit, plus the unit of that bit. */
			size_t unit = 8 * byte + (size_t)__builtin_ctzl(bits);
			bool is_unit = unit < plan->base + plan->with;

			sums[256 * byte + bits] = sums[256 * byte + (bits & (bits - 1))] + (is_unit ? value[unit] : 0);
		}
	return sums;
}

/* --- subtracting trends --- */

static double dot(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* Subtract the mean over the units that have a value. */
static void remove_mean(const struct centred *c, double *value, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += value[i];
	for (size_t i = 0; i < n; i++)
		value[i] = c->there[i / 8] >> i % 8 & 1 ? value[i] - sum / (double)c->units : 0;
}

static void remove_part(double *value, const double *along, size_t n)
{
	double part = dot(value, along, n);

	for (size_t i = 0; i < n; i++)
		value[i] -= part * along[i];
}

/* Store in `trend` the next power of time, orthogonal to the previous ones and of length 1. */
static bool add_trend(struct centred *c, double *trend, size_t n)
{
	double length;

	for (size_t i = 0; i < n; i++)
		trend[i] = c->there[i / 8] >> i % 8 & 1 ? pow(c->plan->when[i], (double)c->trends + 1) : 0;
	remove_mean(c, trend, n);
	for (size_t k = 0; k < c->trends; k++)
		remove_part(trend, c->trend[k], n);
	length = sqrt(dot(trend, trend, n));
	if (length < 1e-6)
		return false;
	for (size_t i = 0; i < n; i++)
		trend[i] /= length;
	return (c->trend_sums[c->trends] = tabulate(c->plan, trend)) != NULL;
}

/*
 * Do values drift more than by chance? Subtracting a trend that does not exist would reduce the
 * test's power. The decision does not depend on labels, so it is the same for every relabelling,
 * and the test stays exact.
 */
static bool has_drift(const struct centred *c, size_t n)
{
	double explained = 0, left = (double)c->units - 1 - (double)c->trends;

	for (size_t k = 0; k < c->trends; k++) {
		double part = dot(c->value, c->trend[k], n);

		explained += part * part;
	}
	return c->trends && left > 0 && explained / (double)c->trends > DRIFT_F * (c->squares - explained) / left;
}

static void add_trends(struct centred *c, size_t n)
{
	for (size_t k = 0; k < c->plan->trends; k++) {
		c->trend[k] = large_alloc(n, sizeof(double));
		if (!c->trend[k] || !add_trend(c, c->trend[k], n))
			break;
		c->trends++;
	}
	if (!has_drift(c, n))
		c->trends = 0;
}

/* Subtract a polynomial of time from the values and from the real labels. */
static int remove_trends(struct centred *c)
{
	size_t n = c->plan->base + c->plan->with;
	double *labels;

	add_trends(c, n);
	if (!c->trends)
		return 0;
	labels = large_alloc(n, sizeof(*labels));
	for (size_t i = c->plan->base; labels && i < n; i++)
		labels[i] = c->there[i / 8] >> i % 8 & 1;
	if (labels) {
		remove_mean(c, labels, n);
		for (size_t k = 0; k < c->trends; k++) {
			remove_part(labels, c->trend[k], n);
			remove_part(c->value, c->trend[k], n);
		}
		c->squares = dot(c->value, c->value, n);
		c->label_scale = dot(labels, labels, n);
		c->label_sums = tabulate(c->plan, labels);
	}
	free(labels);
	return c->label_sums ? 0 : -ENOMEM;
}

int contrast_centre(struct centred *c, const struct perm_plan *plan, const double *value)
{
	*c = (struct centred){.plan = plan,
			      .value = large_alloc(plan->base + plan->with, sizeof(double)),
			      .there = large_alloc(plan->bytes, 1),
			      .moved = large_alloc(plan->bytes, 1)};
	if (!c->value || !c->there || !c->moved)
		return -ENOMEM;
	if (plan->pairs)
		centre_pairs(c, value);
	else
		centre_arms(c, value);
	if (plan->trends && !plan->pairs && c->units && remove_trends(c))
		return -ENOMEM;
	c->sums = tabulate(plan, c->value);
	return c->sums ? 0 : -ENOMEM;
}

void contrast_free(struct centred *c)
{
	free(c->value);
	free(c->sums);
	free(c->there);
	free(c->moved);
	free(c->label_sums);
	for (size_t k = 0; k < PERM_TRENDS; k++) {
		free(c->trend[k]);
		free(c->trend_sums[k]);
	}
}

/* A bit in the base's half means that the pair is swapped. */
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

/* Uses the part of a relabelling that no trend explains, on the scale of the real labelling, so
 * that Student's t only depends on the difference. */
static struct contrast contrast_trends(const struct centred *c, const uint8_t *row, double sum, size_t with)
{
	double scale = (double)with * (double)(c->units - with) / (double)c->units, label = 0, per;

	for (size_t t = 0; t < c->trends; t++) {
		double along = 0;

		for (size_t k = 0; k < c->plan->bytes; k++)
			along += c->trend_sums[t][256 * k + row[k]];
		scale -= along * along;
	}
	for (size_t k = 0; k < c->plan->bytes; k++)
		label += c->label_sums[256 * k + row[k]];
	if (scale < 1e-6)
		return (struct contrast){0, 0, c->label_scale};
	per = 1 / sqrt(scale * c->label_scale);
	return (struct contrast){sum * per, label * per, c->label_scale};
}

struct contrast contrast_of(const struct centred *c, size_t i)
{
	const uint8_t *row = perm_row(c->plan, i);
	size_t with = 0, moved = 0;
	double sum = 0;

	for (size_t k = 0; k < c->plan->bytes; k++) {
		sum += c->sums[256 * k + row[k]];
		with += (size_t)__builtin_popcount(row[k] & c->there[k]);
		moved += (size_t)__builtin_popcount(row[k] & c->moved[k]);
	}
	if (c->trends)
		return contrast_trends(c, row, sum, with);
	return c->plan->pairs ? contrast_pairs(c, sum, with) : contrast_arms(c, sum, with, moved);
}
