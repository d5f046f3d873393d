#include "judge/compare/changepoint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"
#include "common/sort.h"

/*
 * Circular binary segmentation (Olshen and others 2004): of all stretches of a sequence, the one is sought whose mean differs
 * most from that of the rest; if that is significant, its ends are changes, and the parts are searched in turn. Changes between
 * levels that do not differ significantly are taken back at the end.
 */

/* --- values that are odd, and tails --- */

#define NEIGHBOURS 2	  /* to either side */
#define NORMAL_MAD 1.4826 /* the standard deviation, of the median absolute deviation */
#define TAIL	   3	  /* standard deviations from the median of the neighbours: no more is left of a value */
#define ODD	   5	  /* so many are odd */
#define EXACT	   0.01	  /* of the range: less is no change where values repeat to the last digit */

static double local_median(const double *value, size_t n, size_t i)
{
	const size_t from = i < NEIGHBOURS ? 0 : i - NEIGHBOURS, to = i + NEIGHBOURS >= n ? n : i + NEIGHBOURS + 1;
	double near[2 * NEIGHBOURS + 1];

	memcpy(near, value + from, (to - from) * sizeof(*near));
	return sort_median(near, to - from);
}

static double range_of(const double *value, size_t n)
{
	double least = INFINITY, most = -INFINITY;

	for (size_t i = 0; i < n; i++) {
		least = fmin(least, value[i]);
		most = fmax(most, value[i]);
	}
	return n ? most - least : 0;
}

/* Returns the least variance that there is: 0, unless most values equal their neighbours (time that is counted in
 * instructions). */
static double clean_values(const double *value, size_t n, double *clean, bool *odd)
{
	double *apart = or_abort(calloc(n + 1, sizeof(*apart))), noise, floor;

	for (size_t i = 0; i < n; i++) {
		clean[i] = local_median(value, n, i);
		apart[i] = fabs(value[i] - clean[i]);
	}
	noise = n ? NORMAL_MAD * sort_median(apart, n) : 0;
	floor = noise > 0 ? 0 : EXACT * range_of(value, n);
	for (size_t i = 0; i < n; i++) {
		const double difference = value[i] - clean[i];

		odd[i] = fabs(difference) > (noise > 0 ? ODD * noise : floor);
		clean[i] += fmax(-TAIL * noise, fmin(TAIL * noise, difference));
	}
	free(apart);
	return floor * floor;
}

/* --- what is significant --- */

/*
 * Of `n` values without a change, whose noise depends on the one before by up to 0.6, or is Student's t of 3, at most one
 * sequence of 20 has a stretch that exceeds `plain`, or `adjusted` after the dependence that is seen has been allowed for:
 * build/bench/history_rates measures that. The first finds more where noise depends on itself, the second where it does not.
 */
static const struct {
	double n, plain, adjusted;
} critical[] = {{6, 7.0, 5.3},	{8, 7.7, 6.1},	{10, 8.0, 6.4}, {12, 8.0, 6.2}, {15, 8.1, 6.0},	 {20, 8.0, 5.5},
		{25, 7.9, 5.0}, {30, 7.8, 4.7}, {40, 7.6, 4.3}, {60, 7.6, 3.8}, {100, 8.5, 3.5}, {200, 9.6, 3.5}};

#define CRITICALS (sizeof(critical) / sizeof(critical[0]))
#define UNSEEN	  0.25 /* of the dependence: what is seen is less than what there is */
#define DEPENDENT 0.9  /* at most */

/* A stretch of values against the rest. */
struct stretch {
	size_t from, to;
	double t;	   /* Student's */
	double dependence; /* of what is left, on the one before */
};

static bool is_significant(const struct stretch *s, size_t n)
{
	const double seen = fmax(0, fmin(DEPENDENT, s->dependence + UNSEEN));
	double plain = critical[0].plain, adjusted = critical[0].adjusted;

	for (size_t i = 0; i < CRITICALS && (double)n > critical[i].n; i++) {
		const size_t next = i + 1 < CRITICALS ? i + 1 : i;
		const double width = critical[next].n - critical[i].n,
			     part = width > 0 ? fmin(1, ((double)n - critical[i].n) / width) : 0;

		plain = critical[i].plain + part * (critical[next].plain - critical[i].plain);
		adjusted = critical[i].adjusted + part * (critical[next].adjusted - critical[i].adjusted);
	}
	return s->t > plain || s->t * sqrt((1 - seen) / (1 + seen)) > adjusted;
}

static double mean_of(const double *value, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += value[i];
	return sum / (double)n;
}

/* Student's t of a stretch whose sum about the mean of all is `sum`, and what it leaves. */
static void stretch_judge(struct stretch *s, const double *value, size_t n, double least_variance)
{
	const size_t length = s->to - s->from;
	const double all = mean_of(value, n), inside = mean_of(value + s->from, length) - all,
		     outside = -inside * (double)length / (double)(n - length);
	double squares = 0, products = 0, last = 0, variance;

	for (size_t i = 0; i < n; i++) {
		const double left = value[i] - all - (i >= s->from && i < s->to ? inside : outside);

		squares += left * left;
		products += left * last;
		last = left;
	}
	variance = fmax(squares / (double)(n - 2), least_variance);
	s->dependence = squares > 0 ? products / squares : 0;
	s->t = fabs(inside - outside) * sqrt((double)length * (double)(n - length) / (double)n) /
	       sqrt(variance > 0 ? variance : 1e-300);
}

/* May a part of so many values be a level, or is it none? */
static bool is_level(size_t n)
{
	return !n || n >= CHANGEPOINT_LEAST;
}

static struct stretch stretch_find(const double *value, size_t n, double least_variance)
{
	double *sum = or_abort(calloc(n + 1, sizeof(*sum))), all = mean_of(value, n), most = -1;
	struct stretch best = {.to = n};

	for (size_t i = 0; i < n; i++)
		sum[i + 1] = sum[i] + value[i] - all;
	for (size_t from = 0; from + CHANGEPOINT_LEAST <= n; from++)
		for (size_t to = from + CHANGEPOINT_LEAST; is_level(from) && to <= n; to++) {
			const double length = (double)(to - from), rest = (double)n - length,
				     difference = sum[to] - sum[from];

			if (rest < CHANGEPOINT_LEAST || !is_level(n - to) ||
			    difference * difference * (1 / length + 1 / rest) <= most)
				continue;
			most = difference * difference * (1 / length + 1 / rest);
			best.from = from;
			best.to = to;
		}
	free(sum);
	if (most > 0)
		stretch_judge(&best, value, n, least_variance);
	return best;
}

/* --- all of them --- */

/* The changes of a part, which begins at `from`, in ascending order. */
static size_t split(const double *value, size_t from, size_t to, double least_variance, size_t *changes)
{
	const size_t n = to - from;
	struct stretch s = {.t = 0};
	size_t count;

	if (n >= 2 * CHANGEPOINT_LEAST)
		s = stretch_find(value + from, n, least_variance);
	if (n < 2 * CHANGEPOINT_LEAST || !is_significant(&s, n))
		return 0;
	count = split(value, from, from + s.from, least_variance, changes);
	if (s.from)
		changes[count++] = from + s.from;
	count += split(value, from + s.from, from + s.to, least_variance, changes + count);
	if (s.to < n)
		changes[count++] = from + s.to;
	return count + split(value, from + s.to, to, least_variance, changes + count);
}

/* Moves a change to where the two levels around it differ most. */
static struct stretch place(const double *value, size_t from, size_t to, double least_variance)
{
	struct stretch best = {.t = -1};

	for (size_t at = CHANGEPOINT_LEAST; at + CHANGEPOINT_LEAST <= to - from; at++) {
		struct stretch s = {.from = 0, .to = at};

		stretch_judge(&s, value + from, to - from, least_variance);
		best = s.t > best.t ? s : best;
	}
	return best;
}

/* Which change is the least, in relation to what is significant between its neighbours? All are moved to their places. */
static size_t weakest(const double *value, size_t n, double least_variance, size_t *changes, size_t count)
{
	size_t found = count;
	double least = INFINITY;

	for (size_t k = 0; k < count; k++) {
		const size_t from = k ? changes[k - 1] : 0, to = k + 1 < count ? changes[k + 1] : n;
		const struct stretch s = place(value, from, to, least_variance);

		changes[k] = from + s.to;
		if (!is_significant(&s, to - from) && s.t < least) {
			least = s.t;
			found = k;
		}
	}
	return found;
}

size_t changepoints(const double *value, size_t n, size_t *changes, double *clean, bool *odd)
{
	const double least_variance = clean_values(value, n, clean, odd);
	size_t count = split(clean, 0, n, least_variance, changes), weak;

	while (count && (weak = weakest(clean, n, least_variance, changes, count)) < count) {
		memmove(changes + weak, changes + weak + 1, (count - weak - 1) * sizeof(*changes));
		count--;
	}
	return count;
}
