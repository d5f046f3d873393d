#include "compare/compare_plan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/random.h"

#define LINE_UNITS     12
#define PARABOLA_UNITS 16
#define ALTERNATED     0.2 /* if one arm comes after the other, the distance is 1 */

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

const uint8_t *perm_row(const struct perm_plan *p, size_t i)
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
	p->bits = calloc(p->count, p->bytes);
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
	if (p->pairs || n < LINE_UNITS || !(most > least))
		return 0;
	p->when = calloc(n, sizeof(*p->when));
	if (!p->when)
		return -ENOMEM;
	for (size_t u = 0; u < n; u++)
		p->when[u] = 2 * (when[u] - least) / (most - least) - 1;
	if (distance_of_arms(p) <= ALTERNATED)
		p->trends = n < PARABOLA_UNITS ? 1 : 2;
	return 0;
}

bool perm_label(const struct perm_plan *p, size_t i, size_t unit)
{
	return p->bits[i * p->bytes + unit / 8] >> unit % 8 & 1;
}
