/* The permutation test and its intervals, against slower ways to the same numbers, and by how often they err. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "judge/compare/compare_perm.h"
#include "judge/compare/compare_verdict.h"
#include "tests/unit/fixture_random.h"
#include "tests/unit/tap.h"

static uint64_t state = 20260711;

static double uniform(void)
{
	return fixture_uniform(&state);
}

static double normal(void)
{
	return fixture_normal(&state);
}

/* As `q` says, at a level of alpha. */
static void judge_again(const double *values, size_t base, size_t with, bool pairs, struct perm_quantity *q,
			double alpha)
{
	struct perm_plan p;

	*q = (struct perm_quantity){.value = values, .weight = 1, .less_is_worse = q->less_is_worse};
	if (perm_plan_make(&p, base, with, pairs, PERM_MAX, 1) || perm_judge(&p, q, 1, alpha, PERM_IS_WORSE))
		printf("Bail out! no memory\n");
	perm_plan_free(&p);
}

static void judge(const double *values, size_t base, size_t with, bool pairs, struct perm_quantity *q)
{
	q->less_is_worse = false;
	judge_again(values, base, with, pairs, q, 0.05);
}

/* p of one quantity, where the other arm is moved back by `shift`: what the interval's ends must agree with. */
static double p_at(const double *values, size_t base, size_t with, bool pairs, double shift)
{
	double moved[PERM_UNITS];
	struct perm_quantity q;

	for (size_t i = 0; i < base + with; i++)
		moved[i] = values[i] - (i >= base ? shift : 0);
	judge(moved, base, with, pairs, &q);
	return q.p;
}

static void test_plans(void)
{
	struct perm_plan p;
	bool distinct = true, halves = true;

	perm_plan_make(&p, 4, 4, false, PERM_MAX, 1);
	is_int((long long)p.count, 70, "four and four: 70 ways");
	ok(p.exact, "all of them");
	for (size_t i = 0; i < p.count; i++) {
		int ones = 0;

		for (size_t u = 0; u < 8; u++)
			ones += perm_label(&p, i, u);
		halves &= ones == 4;
		for (size_t k = 0; k < i; k++)
			distinct &= p.bits[i] != p.bits[k];
	}
	ok(distinct && halves, "each once, with four in the other arm");
	is_int(p.bits[0], 0xf0, "the real labelling comes first");
	perm_plan_free(&p);
	perm_plan_make(&p, 5, 5, true, PERM_MAX, 1);
	is_int((long long)p.count, 32, "five pairs: 32 ways");
	perm_plan_free(&p);
	perm_plan_make(&p, 20, 20, false, 1000, 1);
	ok(p.count == 1000 && !p.exact, "if there are too many, that many are drawn");
	perm_plan_free(&p);
	ok(perm_plan_make(&p, 3, 4, true, 10, 1) && perm_plan_make(&p, 0, 4, false, 10, 1),
	   "an empty arm, or pairs of arms of different sizes, are refused");
	ok(fabs(perm_least_p(4, 4, false) - 1 / 70.) < 1e-12, "the least p of four and four");
	ok(perm_least_p(6, 6, true) == 1 / 64., "and of six pairs");
}

/* Counted by hand: of the 6 ways to choose two of {1, 2, 3, 10}, those with a difference of means of at least 5. */
static void test_by_hand(void)
{
	const double values[] = {1, 2, 3, 10, 4, 5};
	struct perm_quantity q;

	judge(values, 2, 2, false, &q);
	ok(fabs(q.effect - 5) < 1e-12, "the difference of means");
	ok(fabs(q.p - 1 / 6. / 0.8) < 1e-12, "one of 6 is as much worse, which counts four fifths: p %g", q.p);
	ok(isinf(q.low) && isinf(q.high), "with two units in each arm no shift is excluded");
	judge((const double[]){1, 2, NAN, 10, 11, 12, 13}, 3, 4, false, &q);
	ok(q.known && fabs(q.effect - 10) < 1e-12, "a unit without a value does not count");
	judge((const double[]){1, NAN, 3, 4}, 2, 2, false, &q);
	ok(!q.known, "one value is not enough");
	judge((const double[]){7, 7, 7, 7, 7, 7, 7, 7}, 4, 4, false, &q);
	ok(q.p == 1 && q.low == 0 && q.high == 0, "equal values: no effect, and p is 1");
	judge((const double[]){7, 7, 7, 7, 8, 8, 8, 8}, 4, 4, false, &q);
	/* 3 of 70 are 5 %: two for the worse side. */
	ok(fabs(q.p - 1 / 70. * 3 / 2) < 1e-12 && q.low == 1 && q.high == 1,
	   "no variation within the arms: the interval is the effect itself");
	q.less_is_worse = true;
	judge_again((const double[]){7, 7, 7, 7, 8, 8, 8, 8}, 4, 4, false, &q, 0.05);
	ok(fabs(q.p - 3 / 70.) < 1e-12, "where less is worse, that is better: p %g", q.p);
	judge_again((const double[]){7, 7, 7, 7, 8, 8, 8, 8}, 4, 4, false, &q, 0.02);
	ok(q.p > 0.05 && isinf(q.low), "of 2 %% one of 70 is the worse side's, none the better one's");
}

/* The difference of the arms' means under a relabelling; of pairs likewise. */
static double difference_of(const struct perm_plan *p, size_t row, const double *values)
{
	double sum[2] = {0};

	for (size_t u = 0; u < p->base + p->with; u++)
		sum[perm_label(p, row, u)] += values[u];
	return sum[1] / (double)p->with - sum[0] / (double)p->base;
}

/* The share of relabellings that are as extreme as the real one on one side, where the other arm is moved back by
 * `shift`. */
static double one_sided(const double *values, size_t base, size_t with, bool pairs, double shift, double side)
{
	double moved[PERM_UNITS], real;
	struct perm_plan p;
	size_t n = 0;

	for (size_t i = 0; i < base + with; i++)
		moved[i] = values[i] - (i >= base ? shift : 0);
	perm_plan_make(&p, base, with, pairs, PERM_MAX, 1);
	real = side * difference_of(&p, 0, moved);
	for (size_t i = 0; i < p.count; i++)
		n += side * difference_of(&p, i, moved) >= real - 1e-12;
	perm_plan_free(&p);
	return (double)n / (double)p.count;
}

/* Just inside an end p is above 5 %, just outside it is not. */
static void test_inversion(size_t base, size_t with, bool pairs, const char *what)
{
	double values[PERM_UNITS], low_in = 1, high_in = 1, low_out = 0, high_out = 0;
	bool agree = true, alone = true;

	for (int trial = 0; trial < 20; trial++) {
		struct perm_quantity q;
		double step;

		for (size_t i = 0; i < base + with; i++)
			values[i] = normal() + (i >= base ? uniform() * 3 : 0);
		judge(values, base, with, pairs, &q);
		step = 1e-6 * (q.high - q.low);
		low_in = fmin(low_in, p_at(values, base, with, pairs, q.low + step));
		high_in = fmin(high_in, p_at(values, base, with, pairs, q.high - step));
		low_out = fmax(low_out, p_at(values, base, with, pairs, q.low - step));
		high_out = fmax(high_out, p_at(values, base, with, pairs, q.high + step));
		alone &= one_sided(values, base, with, pairs, q.low_alone + step, 1) > 0.05 &&
			 one_sided(values, base, with, pairs, q.low_alone - step, 1) <= 0.05 &&
			 one_sided(values, base, with, pairs, q.high_alone - step, -1) > 0.05 &&
			 one_sided(values, base, with, pairs, q.high_alone + step, -1) <= 0.05;
		agree &= (q.p <= 0.05) == (q.low > 0 || q.high < 0);
	}
	ok(low_in > 0.05 && high_in > 0.05, "%s: shifts inside the interval are not rejected (%g, %g)", what, low_in,
	   high_in);
	ok(low_out <= 0.05 && high_out <= 0.05, "%s: those outside are (%g, %g)", what, low_out, high_out);
	ok(alone, "%s: each end of the quantity alone errs in 5 %%, to one side", what);
	ok(agree, "%s: it excludes 0 exactly where p <= 0.05", what);
}

/* A trend that is larger than the shift, in arms that alternate: without it the shift is found. */
static void test_drift(void)
{
	double values[16], when[16];
	struct perm_quantity with = {.value = values, .weight = 1}, without = with;
	struct perm_plan p;

	for (size_t u = 0; u < 16; u++) {
		size_t at = 4 * (u % 8 / 2) + (u < 8 ? u % 2 * 3 : 1 + u % 2);

		when[u] = 1e18 + (double)at * 1e12;
		values[u] = (double)(at * at) / 20 + (u >= 8 ? 1 : 0) + 0.2 * normal();
	}
	perm_plan_make(&p, 8, 8, false, PERM_MAX, 1);
	perm_judge(&p, &without, 1, 0.05, PERM_IS_WORSE);
	ok(!perm_plan_drift(&p, when) && p.trends == 2, "arms that alternated: a parabola in time is taken out");
	perm_judge(&p, &with, 1, 0.05, PERM_IS_WORSE);
	ok(without.p > 0.05 && with.p < 0.01 && with.low < 1 && 1 < with.high && with.high - with.low < 1,
	   "then a shift of 1 is found: p %g, %g to %g (with the trend: p %g)", with.p, with.low, with.high, without.p);
	perm_plan_free(&p);
	for (size_t u = 0; u < 16; u++)
		when[u] = (double)u;
	perm_plan_make(&p, 8, 8, false, PERM_MAX, 1);
	ok(!perm_plan_drift(&p, when) && !p.trends, "one arm after the other: a trend can't be told from the arms");
	perm_plan_free(&p);
}

struct rates {
	unsigned any, first, excluded, agree;
};

/* Five quantities of which the first four go together, as quantiles do; the first weighs more. */
static struct rates simulate(unsigned trials, double shift)
{
	struct rates r = {0};
	struct perm_plan p;

	perm_plan_make(&p, 6, 6, false, PERM_MAX, 1);
	for (unsigned t = 0; t < trials; t++) {
		double values[5][12];
		struct perm_quantity q[5];
		bool any = false, same = true;

		for (size_t i = 0; i < 12; i++) {
			double common = normal();

			for (size_t k = 0; k < 5; k++)
				values[k][i] =
				    (k < 4 ? common : 0) + (double)(k + 1) / 3 * normal() + (!k && i >= 6 ? shift : 0);
		}
		for (size_t k = 0; k < 5; k++)
			q[k] = (struct perm_quantity){.value = values[k], .weight = k ? 0.7 : 1};
		perm_judge(&p, q, 5, 0.05, PERM_IS_WORSE);
		for (size_t k = 0; k < 5; k++) {
			any |= q[k].p <= 0.05;
			same &= (q[k].p <= 0.05) == (q[k].low > 0 || q[k].high < 0);
		}
		r.any += any;
		r.first += q[0].p <= 0.05;
		r.excluded += q[0].low > shift || q[0].high < shift;
		r.agree += same;
	}
	perm_plan_free(&p);
	return r;
}

static void test_rates(void)
{
	const unsigned trials = 400;
	struct rates r;

	note("seed %" PRIu64, state);
	r = simulate(trials, 0);
	/* 5 % of 400 is 20, with a standard deviation of 4.4. */
	ok(r.any <= 34, "where nothing differs, any of five is found to in %u of %u", r.any, trials);
	ok(r.any >= 7, "and that happens, so the level is used");
	is_int(r.agree, trials, "intervals and p of all five agree");
	r = simulate(trials, 3);
	ok(r.first > trials * 8 / 10, "a shift of three standard deviations is found in %u of %u", r.first, trials);
	ok(r.excluded <= 34, "the interval misses the true shift in %u of %u", r.excluded, trials);
}

/* Three knobs that matter, one of them in the other direction: six pairs tell of each. */
static void test_both_directions(void)
{
	enum { PAIRS = 6, KNOBS = 3 };
	static const double effects[KNOBS] = {-1, -1.1, 1.3};
	struct perm_quantity q[KNOBS];
	double values[KNOBS][2 * PAIRS];
	struct perm_plan p;

	for (size_t k = 0; k < KNOBS; k++) {
		q[k] = (struct perm_quantity){.value = values[k], .weight = 1};
		for (size_t i = 0; i < PAIRS; i++) {
			values[k][i] = normal();
			values[k][PAIRS + i] = values[k][i] + effects[k] + 0.01 * (double)(k + 1) * normal();
		}
	}
	if (perm_plan_make(&p, PAIRS, PAIRS, true, PERM_MAX, 1) || perm_judge(&p, q, KNOBS, 0.05, PERM_DIFFERS))
		printf("Bail out! no memory\n");
	for (size_t k = 0; k < KNOBS; k++) {
		ok(q[k].p <= 0.05, "an effect of %g: p is %g", effects[k], q[k].p);
		ok(q[k].low * q[k].high > 0, "and its interval, %g to %g, excludes 0", q[k].low, q[k].high);
	}
	perm_plan_free(&p);
}

static void test_noise(void)
{
	double values[] = {1, 2, 3, 10};

	/* Splits in halves: 1 2 | 3 10: 5; 1 3 | 2 10: 4; 1 10 | 2 3: 3; each twice. */
	ok(fabs(perm_noise_floor(values, 4, 1) - 5) < 1e-12, "the noise floor of four");
	ok(isnan(perm_noise_floor(values, 3, 1)), "three values have no noise floor");
}

static void test_boots(void)
{
	/* Tables of Student's t. */
	ok(fabs(boots_student(0.025, 14) - 2.1448) < 0.005, "t of 14: %g", boots_student(0.025, 14));
	ok(fabs(boots_student(0.025, 6) - 2.4469) < 0.01, "t of 6: %g", boots_student(0.025, 6));
	ok(fabs(boots_student(0.005, 3) - 5.8409) < 0.02, "t of 3: %g", boots_student(0.005, 3));
	ok(fabs(boots_student(0.025, 2) - 4.3027) < 0.005, "t of 2: %g", boots_student(0.025, 2));
	ok(fabs(boots_student(0.025, 500) - 1.9647) < 0.005, "t of 500: %g", boots_student(0.025, 500));
	/* Two samples, effect 1 stdev, 5 % two-sided, 85 %: 19 by G*Power. */
	ok(labs((long)boots_needed(1, 1, 0.025, 0.85, 4) - 19) <= 1, "19 an arm for one stdev, not %zu",
	   boots_needed(1, 1, 0.025, 0.85, 4));
	is_int((long long)boots_needed(10, 1, 0.025, 0.85, 4), 4, "never below the least");
	is_int((long long)boots_needed(0.001, 1, 0.025, 0.85, 4), BOOTS_MOST, "BOOTS_MOST where no number is enough");
}

int main(void)
{
	test_plans();
	test_by_hand();
	test_inversion(5, 5, false, "five and five");
	test_inversion(4, 7, false, "four and seven");
	test_inversion(7, 7, true, "seven pairs");
	test_drift();
	test_rates();
	test_both_directions();
	test_noise();
	test_boots();
	return done_testing();
}
