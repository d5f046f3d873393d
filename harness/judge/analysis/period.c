#include "judge/analysis/period.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/or_abort.h"
#include "common/random.h"

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
