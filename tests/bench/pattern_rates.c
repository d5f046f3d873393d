/*
 * Counts how often the search for periods errs, for 1000 sequences of each kind of 10 000 latencies with
 * a known truth, and measures how long it takes for a million. Exit status 3: a limit is exceeded.
 */
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "tests/unit/series_model.h"

#define SERIES	1000
#define ENTRIES 10000

struct tally {
	unsigned found, right_phases;
};

static struct tally try_all(unsigned period, unsigned first, unsigned last, int64_t longer, uint64_t *state)
{
	struct tally t = {0};

	for (unsigned i = 0; i < SERIES; i++) {
		struct period_sequence s = model_sequence(ENTRIES, state);
		struct periods p;

		model_add(&s, period, first, last, longer);
		periods_find(&s, 1, &p);
		/* If there is no pattern, any period is false. */
		if (p.count && (!longer || p.level[0].fold.period == period)) {
			t.found++;
			t.right_phases += model_phases_are(&p.level[0].fold, first, last);
		}
		periods_free(&p);
		free(s.values);
	}
	return t;
}

/* CPU time, so that other programs do not matter. */
static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double time_of_a_million(int64_t longer, uint64_t *state)
{
	struct period_sequence s = model_sequence(1000000, state);
	struct periods p;
	double begin;

	model_add(&s, 32, 31, 32, longer);
	begin = seconds();
	periods_find(&s, 1, &p);
	begin = seconds() - begin;
	periods_free(&p);
	free(s.values);
	return begin;
}

static bool say(const char *what, double value, const char *unit, bool kept)
{
	printf("%-66s %8.4g %-3s %s\n", what, value, unit, kept ? "" : "EXCEEDED");
	return kept;
}

int main(void)
{
	uint64_t state = 1;
	const struct tally without = try_all(32, 31, 32, 0, &state), with = try_all(32, 31, 32, MODEL_SIGMA, &state);
	const double quiet = time_of_a_million(0, &state), loud = time_of_a_million(MODEL_SIGMA, &state);
	bool kept = true;

	printf("seed 1, %d sequences of %d each\n", SERIES, ENTRIES);
	kept &= say("without a period, one is found (at most 1 %)", 100. * without.found / SERIES, "%",
		    without.found <= SERIES / 100);
	kept &= say("2 of 32 higher by a standard deviation, found (at least 95 %)", 100. * with.found / SERIES, "%",
		    with.found >= SERIES * 95 / 100);
	kept &= say("of these the phases are right (all)", 100. * with.right_phases / (with.found ? with.found : 1),
		    "%", with.right_phases == with.found);
	kept &= say("a million entries without a period (less than 0.5 s)", quiet, "s", quiet < 0.5);
	kept &= say("a million entries with a period (less than 0.5 s)", loud, "s", loud < 0.5);
	return kept ? 0 : 3;
}
