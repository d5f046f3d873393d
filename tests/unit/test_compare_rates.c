/* How often a comparison errs, on runs whose truth is known: the small edition of tests/bench/compare_rates.c, and the rules. */
#include "tests/unit/synthetic_runs.h"
#include "tests/unit/tap.h"

#define TRIALS SYNTHETIC_TRIALS
#define FEW    (TRIALS / 5)
/* Of 100 trials; so few as there are with sanitizers tell no more than a third. */
#define AT_LEAST(percent) (TRIALS < 100 ? TRIALS / 3 : (percent))

/* Short runs: their p99 and p99.9 have too few samples, which is a case of its own. */
static struct synthetic small(double slower, uint64_t seed)
{
	struct synthetic s = synthetic_usual;

	s.messages = 1000;
	s.boots = 6;
	s.spread = 0.02;
	s.slower = slower;
	s.seed = seed;
	return s;
}

static void test_rates(void)
{
	struct synthetic s = small(0, 1000);
	struct synthetic_rates r;

	note("seeds %llu to %llu", (unsigned long long)s.seed, (unsigned long long)s.seed + TRIALS - 1);
	r = synthetic_rates(&s, TRIALS);
	ok(synthetic_alarms(&r) <= SYNTHETIC_ALARMS, "nothing changed: %zu of %d false alarms", synthetic_alarms(&r),
	   TRIALS);
	ok(r.median[COMPARE_EQUIVALENT] > 0, "and the median is found to be equivalent in %zu",
	   r.median[COMPARE_EQUIVALENT]);
	s = small(0.03, 2000);
	r = synthetic_rates(&s, TRIALS);
	ok(r.worst[COMPARE_REGRESSION] >= AT_LEAST(90), "3 %% slower: a regression in %zu of %d",
	   r.worst[COMPARE_REGRESSION], TRIALS);
	ok(r.covered >= AT_LEAST(86), "the interval holds the truth in %zu of %d", r.covered, TRIALS);
	is_int((long long)r.worst[COMPARE_IMPROVEMENT], 0, "never an improvement");
	s = small(-0.03, 3000);
	r = synthetic_rates(&s, TRIALS);
	/* Of what false alarms may be, one fifth is for this side. */
	ok(r.worst[COMPARE_IMPROVEMENT] >= AT_LEAST(75), "3 %% faster: an improvement in %zu of %d",
	   r.worst[COMPARE_IMPROVEMENT], TRIALS);
}

/* The unit is the boot: many runs of few boots know no more, and what differs between boots is no effect. */
static void test_unit(void)
{
	struct synthetic s = small(0, 4000);
	struct synthetic_rates r;

	s.between_boots = 0.05;
	s.between_runs = 0.001;
	s.runs = 4;
	s.boots = 4;
	r = synthetic_rates(&s, TRIALS);
	ok(synthetic_alarms(&r) <= SYNTHETIC_ALARMS, "boots that differ by 5 %%: %zu of %d false alarms",
	   synthetic_alarms(&r), TRIALS);
	s.boots = 3;
	r = synthetic_rates(&s, 3);
	is_int((long long)r.median[COMPARE_UNDECIDED] + (long long)synthetic_alarms(&r), 0,
	       "three boots: nothing is said");
}

/* What is real but far below the margin is equivalent, once it can be told from the margin. */
static void test_margin(void)
{
	struct synthetic s = small(0.005, 5000);
	struct synthetic_rates r;

	s.between_boots = s.between_runs = 0.0005;
	s.spread = 0.005;
	r = synthetic_rates(&s, FEW);
	ok(r.median[COMPARE_EQUIVALENT] == FEW, "0.5 %% slower, sharply seen: equivalent in %zu of %d",
	   r.median[COMPARE_EQUIVALENT], FEW);
}

/* Where boots differ by factors of ten nothing is harmless, whatever the seed. */
static void test_noise(void)
{
	struct synthetic s = small(0, 6000);
	struct synthetic_rates r;

	s.between_boots = 2.4;
	s.boots = 8;
	r = synthetic_rates(&s, TRIALS);
	is_int((long long)r.median[COMPARE_EQUIVALENT], 0, "noise of 1000 %%: the median is never equivalent");
	ok(r.fine <= r.worst[COMPARE_IMPROVEMENT], "\"no regression\" is said only of improvements: %zu", r.fine);
	ok(synthetic_alarms(&r) <= SYNTHETIC_ALARMS, "%zu of %d false alarms", synthetic_alarms(&r), TRIALS);
	s.slower = 1e5;
	r = synthetic_rates(&s, FEW);
	ok(r.median[COMPARE_REGRESSION] >= FEW * 9 / 10, "a change larger than the noise is found in %zu of %d",
	   r.median[COMPARE_REGRESSION], FEW);
}

int main(void)
{
	test_noise();
	test_rates();
	test_unit();
	test_margin();
	return done_testing();
}
