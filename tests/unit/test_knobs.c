/* How often the joint verdict on many knobs errs, on values whose truth is known: each knob alone shares "none", each left out shares "whole". */
#include <math.h>
#include <stdlib.h>

#include "judge/compare/compare_judge.h"
#include "study/knobs/knobs_judge.h"
#include "tests/unit/fixture_random.h"
#include "tests/unit/tap.h"

#define KNOBS	    8
#define COMPARISONS (2 * KNOBS + 1)
#define ARMS_ALL    (2 * KNOBS + 2) /* none, whole, each alone, each left out */
#define PAIRS_MAX   12
#define TRIALS	    300

struct truth {
	size_t blocks;
	double noise;	/* of a run, as a share */
	double between; /* of a block, which all its runs share */
	bool is_skewed; /* now and then a run is much slower */
	double effect;	/* of knob 0, in a share; the others are placebos */
	uint64_t seed;
};

/* Of twelve: close enough to normal for what is tested by relabelling. */
static double normal(uint64_t *state)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += fixture_uniform(state);
	return sum;
}

static double draw(const struct truth *t, uint64_t *state)
{
	return t->noise * (t->is_skewed ? -log(fixture_uniform(state)) - 1 : normal(state));
}

/* Is the knob with an effect on in this arm? */
static bool is_on(size_t arm)
{
	return arm == 1 || arm == 2 || (arm > 2 + KNOBS);
}

static void draw_arms(const struct truth *t, uint64_t *state, double (*arm)[PAIRS_MAX])
{
	for (size_t b = 0; b < t->blocks; b++) {
		double block = t->between * normal(state);

		for (size_t a = 0; a < ARMS_ALL; a++)
			arm[a][b] = log(1000) + block + draw(t, state) + (is_on(a) ? log1p(t->effect) : 0);
	}
}

/* Comparison c as values: whole against none; each alone against none; each left out against whole. */
static void fill(struct compare_values *v, double *value, const struct truth *t, double (*arm)[PAIRS_MAX], size_t c)
{
	size_t base = c > KNOBS, with = c == 0 ? 1 : c + 1;

	for (size_t b = 0; b < t->blocks; b++) {
		value[b] = arm[base][b];
		value[t->blocks + b] = arm[with][b];
	}
	*v = (struct compare_values){.of = {.key = "p50", .measure = MEASURE_SERIES, .weight = 1},
				     .logarithms = true,
				     .value = value,
				     .level = {1000, 1000},
				     .messages = 1000};
}

struct found {
	size_t alarms; /* of placebos */
	bool alone, without;
};

static struct found judge(const struct truth *t, uint64_t seed)
{
	static const struct compare_rule rule = {.margin = 0.001, .effect = 0.02};
	const struct compare_runs runs = {.count = 0};
	double arm[ARMS_ALL][PAIRS_MAX], value[COMPARISONS][2 * PAIRS_MAX];
	struct compare_values values[COMPARISONS];
	struct compare_point points[COMPARISONS];
	struct knobs_joint all = {.entries = NULL};
	struct found found = {0};
	uint64_t state = seed;

	draw_arms(t, &state, arm);
	for (size_t c = 0; c < COMPARISONS; c++) {
		fill(&values[c], value[c], t, arm, c);
		points[c] =
		    (struct compare_point){.metric = "lat_ns", .flow = "", .quantity = &values[c], .quantity_count = 1};
		joint_add(&all, &(struct compare_join){.runs = &runs, .point = &points[c], .count = 1}, &rule);
	}
	if (joint_judge(&all, t->blocks, seed))
		abort();
	for (size_t c = 0; c < COMPARISONS; c++) {
		int verdict = joint_is_judged(&all, c) ? compare_entry_verdict(&all.entries[c]) : COMPARE_UNDECIDED;
		bool seen = verdict == COMPARE_REGRESSION || verdict == COMPARE_IMPROVEMENT;

		found.alone |= c == 1 && verdict == COMPARE_IMPROVEMENT;
		found.without |= c == 1 + KNOBS && verdict == COMPARE_REGRESSION;
		found.alarms += seen && (t->effect == 0 || (c != 0 && c != 1 && c != 1 + KNOBS));
	}
	joint_free(&all);
	return found;
}

static size_t count_alarms(const struct truth *t, size_t *alone, size_t *without)
{
	size_t alarms = 0;

	*alone = *without = 0;
	for (size_t i = 0; i < TRIALS; i++) {
		struct found f = judge(t, t->seed + i);

		alarms += f.alarms > 0;
		*alone += f.alone;
		*without += f.without;
	}
	return alarms;
}

/* 5 % of them, and no more than that gives in 999 of 1000 cases. */
#define ALARMS_MOST 29

static void test_placebos(void)
{
	static const struct truth machines[] = {
	    {.blocks = 6, .noise = 0.01, .between = 0.03, .seed = 1000},
	    {.blocks = 10, .noise = 0.01, .between = 0.03, .seed = 2000},
	    {.blocks = 6, .noise = 0.01, .between = 0.03, .is_skewed = true, .seed = 3000},
	    {.blocks = 10, .noise = 0.01, .between = 0.03, .is_skewed = true, .seed = 4000},
	};
	size_t alone, without;

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		size_t alarms = count_alarms(&machines[i], &alone, &without);

		ok(alarms <= ALARMS_MOST, "%d placebos, %zu blocks%s: a false alarm in %zu of %d", KNOBS,
		   machines[i].blocks, machines[i].is_skewed ? ", skewed" : "", alarms, TRIALS);
	}
}

/* That one knob works must not make others seem to. */
static void test_one_works(void)
{
	static const struct truth t = {.blocks = 10, .noise = 0.01, .between = 0.03, .effect = -0.1, .seed = 5000};
	size_t alone, without, alarms = count_alarms(&t, &alone, &without);

	ok(alone >= TRIALS - 3, "one knob of 10 %%: found alone in %zu of %d", alone, TRIALS);
	ok(without >= TRIALS - 3, "and left out in %zu", without);
	ok(alarms <= ALARMS_MOST, "a placebo beside it in %zu", alarms);
}

static void test_too_few(void)
{
	static const struct truth t = {.blocks = 5, .noise = 0.001, .effect = -0.5, .seed = 6000};
	struct found f = judge(&t, t.seed);

	ok(!f.alone && !f.without && !f.alarms, "five blocks: nothing is said");
}

int main(void)
{
	test_placebos();
	test_one_works();
	test_too_few();
	return done_testing();
}
