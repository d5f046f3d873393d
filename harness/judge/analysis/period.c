#include "judge/analysis/period.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/npy.h"
#include "common/or_abort.h"
#include "common/random.h"
#include "common/sort.h"
#include "judge/analysis/period_score.h"

/* --- phases --- */

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

/*
 * Fold the sequences. A pattern may begin anywhere in a repetition: entry i of sequence k belongs
 * to phase (i + shifts[k]) % period. Release with phases_free().
 */
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
		const int64_t below = at_rank(sorted, n, 0.4), above = at_rank(sorted, n, 0.6);

		out->phase[p] = (struct phase){.n = n,
					       .p10 = at_rank(sorted, n, 0.1),
					       .p50 = at_rank(sorted, n, 0.5),
					       .p90 = at_rank(sorted, n, 0.9),
					       .middle = below + (above - below) / 2};
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

/* Find the shifts that align all sequences with the first one; `shifts` has room for `count`. A
 * shift is 0 if that is about as good. */
static void phases_align(const struct period_sequence *sequences, size_t count, unsigned period, unsigned *shifts)
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

/* Subtract from all values of a phase how far its middle is from the base: its median may be in either of two groups of
 * values that a longer period makes. */
static void phases_subtract(const struct phases *p, struct period_sequence *sequences, const unsigned *shifts,
			    size_t count)
{
	for (size_t k = 0; k < count; k++)
		for (size_t i = 0; i < sequences[k].count; i++) {
			const struct phase *phase = &p->phase[phase_of(i, shifts[k], p->period)];
			int64_t *value = &sequences[k].values[i];

			if (*value != NEVER)
				*value -= phase->middle - p->base;
		}
}

/* Without a period, the largest evidence of n periods is about ln n. If it does not exceed that by
 * this much, no shuffles are needed to tell that there is no period. */
#define EVIDENT 3

#define SHUFFLED 8192 /* values of a piece: PERIOD_CYCLES of PERIOD_MAX */

_Static_assert(SHUFFLED >= PERIOD_CYCLES * PERIOD_MAX, "shuffled values do not hold the longest period");

/* --- evidence by chance --- */

/* Replace the first `count` ranks of `piece` by a random selection of all of its ranks. */
static void shuffle_ranks(struct period_piece *piece, size_t count, uint64_t *seed)
{
	for (size_t i = 0; i < count; i++) {
		const size_t k = i + random_below(seed, piece->count - i);
		const double rank = piece->ranks[i];

		piece->ranks[i] = piece->ranks[k];
		piece->ranks[k] = rank;
	}
}

static double best_evidence(const struct period_scores *s)
{
	double best = 0;

	for (unsigned p = 2; p <= s->most; p++)
		best = fmax(best, period_evidence(s->in_white[p], s->freedom[p]));
	return best;
}

/* The largest evidence in randomly shuffled values. Its distribution does not depend on the number
 * of values, so it is sufficient to shuffle some of them, as long as they cover the longest period. */
static double shuffled_evidence(const struct period_pieces *pieces, uint64_t *seed, struct period_scores *s)
{
	struct period_piece list[2];
	struct period_pieces some = *pieces;

	some.list = list;
	some.count = pieces->count > 2 ? 2 : pieces->count;
	some.shortest = some.longest = pieces->shortest < SHUFFLED ? pieces->shortest : SHUFFLED;
	for (size_t i = 0; i < some.count; i++) {
		shuffle_ranks(&pieces->list[i], some.longest, seed);
		list[i] = (struct period_piece){pieces->list[i].ranks, some.longest};
	}
	period_score(&some, s);
	return best_evidence(s);
}

/* Destroys the order of the ranks. */
static double shuffled_threshold(struct period_pieces *pieces)
{
	struct period_scores *s = or_abort(calloc(1, sizeof(*s)));
	double sum = 0, squares = 0, mean;
	uint64_t seed = PERIOD_SEED;

	for (size_t i = 0; i < PERIOD_SHUFFLES; i++) {
		const double best = shuffled_evidence(pieces, &seed, s);

		sum += best;
		squares += best * best;
	}
	free(s);
	mean = sum / PERIOD_SHUFFLES;
	return mean + PERIOD_MARGIN * sqrt(fmax(0, squares / PERIOD_SHUFFLES - mean * mean));
}

/* --- which period --- */

struct candidate {
	double explained, by_chance, in_white, freedom; /* period_score.h */
	double evidence;
};

/* Subtract what previous levels explain of which this period is a multiple. False: it is the period
 * of a previous level, or a divisor of one. */
static bool beyond_levels(const struct period_scores *s, const struct periods *before, unsigned period,
			  struct candidate *c)
{
	unsigned within = 0;

	for (size_t i = 0; i < before->count; i++) {
		const unsigned known = before->level[i].fold.period;

		if (known % period == 0)
			return false;
		if (period % known == 0 && known > within)
			within = known;
	}
	c->explained = s->explained[period] - (within ? s->explained[within] : 0);
	c->by_chance = s->by_chance[period] - (within ? s->by_chance[within] : 0);
	c->freedom = s->freedom[period] - (within ? s->freedom[within] : 0);
	c->in_white = s->in_white[period] - (within ? s->in_white[within] : 0);
	c->evidence = period_evidence(c->in_white, c->freedom);
	return true;
}

static double merit(const struct candidate *c)
{
	return (c->in_white - c->freedom) / sqrt(c->freedom);
}

/* 0: there is no evident period. */
static unsigned choose_period(const struct period_scores *s, const struct periods *before, double threshold,
			      struct candidate *best)
{
	unsigned period = 0;

	for (unsigned p = 2; p <= s->most; p++) {
		struct candidate c;

		if (!beyond_levels(s, before, p, &c) || c.evidence < threshold || c.explained <= c.by_chance ||
		    (period && merit(&c) <= merit(best)))
			continue;
		period = p;
		*best = c;
	}
	return period;
}

/* --- levels --- */

static void take_out(struct period_sequence *sequences, size_t count, unsigned period, const struct candidate *c,
		     const struct period_scores *s, struct period_level *level)
{
	level->strength = (c->explained - c->by_chance) / (s->entries - c->by_chance);
	level->shifts = or_abort(calloc(count, sizeof(*level->shifts)));
	phases_align(sequences, count, period, level->shifts);
	phases_fold(sequences, level->shifts, count, period, &level->fold);
	phases_subtract(&level->fold, sequences, level->shifts, count);
}

/* True: a level was added. */
static bool find_level(struct period_sequence *sequences, size_t count, struct periods *out)
{
	struct period_scores *s = or_abort(calloc(1, sizeof(*s)));
	struct period_pieces pieces;
	struct candidate c = {0};
	unsigned period = 0;
	double best;

	period_pieces(sequences, count, &pieces);
	period_score(&pieces, s);
	best = best_evidence(s);
	if (!out->count) {
		out->entries = pieces.entries;
		out->longest = s->most;
		out->evidence = best;
	}
	if (s->most && best > log(s->most) + EVIDENT) {
		if (out->threshold <= 0)
			out->threshold = shuffled_threshold(&pieces);
		period = choose_period(s, out, out->threshold, &c);
	}
	if (period)
		take_out(sequences, count, period, &c, s, &out->level[out->count++]);
	period_pieces_free(&pieces);
	free(s);
	return period;
}

void periods_find(struct period_sequence *sequences, size_t count, struct periods *out)
{
	*out = (struct periods){0};
	while (out->count < PERIOD_LEVELS && find_level(sequences, count, out))
		;
}

void periods_free(struct periods *p)
{
	for (size_t i = 0; i < p->count; i++) {
		free(p->level[i].shifts);
		phases_free(&p->level[i].fold);
	}
	*p = (struct periods){0};
}
