/* The overall verdict of several quantities, and whether it became slower. */
#include <math.h>

#include "judge/compare/compare_perm.h"
#include "judge/compare/compare_verdict.h"
#include "tests/unit/tap.h"

static const struct {
	const char *name;
	size_t worse, better, same, unsure, open;
	enum compare_verdict overall;
	enum compare_outcome outcome;
} cases[] = {
    {"nothing compared", 0, 0, 0, 0, 0, COMPARE_UNDECIDED, OUTCOME_UNDECIDED},
    {"one of many is worse", 1, 0, 9, 0, 0, COMPARE_REGRESSION, OUTCOME_REGRESSION},
    {"some are worse, some better", 1, 3, 0, 2, 2, COMPARE_MIXED, OUTCOME_REGRESSION},
    {"one is better, all others are the same", 0, 1, 3, 0, 0, COMPARE_IMPROVEMENT, OUTCOME_NONE},
    {"one is better, another may be worse", 0, 1, 3, 1, 1, COMPARE_IMPROVEMENT, OUTCOME_UNDECIDED},
    {"undecided, but not worse", 0, 0, 3, 1, 0, COMPARE_UNDECIDED, OUTCOME_NONE},
    {"undecided, and may be worse", 0, 0, 3, 2, 1, COMPARE_UNDECIDED, OUTCOME_UNDECIDED},
    {"all are the same", 0, 0, 4, 0, 0, COMPARE_EQUIVALENT, OUTCOME_NONE},
};

static struct verdict_counts counts_of(size_t i)
{
	struct verdict_counts t = {.open = 0};
	const size_t count[COMPARE_VERDICTS] = {
	    [COMPARE_REGRESSION] = cases[i].worse,
	    [COMPARE_IMPROVEMENT] = cases[i].better,
	    [COMPARE_EQUIVALENT] = cases[i].same,
	    [COMPARE_UNDECIDED] = cases[i].unsure,
	};

	for (enum compare_verdict v = 0; v < COMPARE_VERDICTS; v++)
		for (size_t n = 0; n < count[v]; n++)
			compare_verdict_count(&t, (struct verdict_one){v,
								       .may_be_worse = v == COMPARE_UNDECIDED
											   ? n < cases[i].open
											   : v == COMPARE_REGRESSION,
								       .decides = true});
	return t;
}

/* Quantities that do not decide: the median is what the first one says. */
static const struct {
	const char *name;
	struct verdict_one median, tail;
	enum compare_verdict overall;
	enum compare_outcome outcome;
} shown[] = {
    {"what does not decide may be worse",
     {COMPARE_EQUIVALENT, false, false, true},
     {COMPARE_UNDECIDED, true, true, false},
     COMPARE_EQUIVALENT,
     OUTCOME_NONE},
    {"what does not decide is worse",
     {COMPARE_EQUIVALENT, false, false, true},
     {COMPARE_REGRESSION, true, false, false},
     COMPARE_REGRESSION,
     OUTCOME_REGRESSION},
    {"what decides may be worse",
     {COMPARE_UNDECIDED, true, false, true},
     {COMPARE_EQUIVALENT, false, false, false},
     COMPARE_UNDECIDED,
     OUTCOME_UNDECIDED},
    {"what decides is better in spite of noise: the other is not passed over",
     {COMPARE_IMPROVEMENT, false, true, true},
     {COMPARE_UNDECIDED, true, true, false},
     COMPARE_IMPROVEMENT,
     OUTCOME_UNDECIDED},
};

static void test_shown(void)
{
	struct verdict_counts missing = {.open = 0};

	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		struct verdict_counts t = {.open = 0};

		compare_verdict_count(&t, shown[i].median);
		compare_verdict_count(&t, shown[i].tail);
		is_str(compare_verdicts[compare_verdict_overall(&t)], compare_verdicts[shown[i].overall], "%s: overall",
		       shown[i].name);
		is_str(compare_outcomes[compare_verdict_outcome(&t)], compare_outcomes[shown[i].outcome],
		       "%s: is it slower?", shown[i].name);
	}
	compare_verdict_count(&missing, shown[0].median);
	compare_verdict_count_missing(&missing);
	is_int(compare_verdict_outcome(&missing), OUTCOME_UNDECIDED, "what decides, but was not compared");
}

/* A share, so that differences are amounts. The margin is 0.05. */
static const struct {
	const char *name;
	double low, low_alone, high_alone, high, error;
	enum compare_verdict verdict;
} single[] = {
    {"a small change, sharply seen", 0.001, 0.001, 0.002, 0.003, 1e-4, COMPARE_EQUIVALENT},
    {"the same with so few boots that jointly nothing bounds it", 0.001, 0.001, 0.002, INFINITY, 1e-4,
     COMPARE_EQUIVALENT},
    {"the same for the better", -INFINITY, -0.002, -0.001, -0.001, 1e-4, COMPARE_EQUIVALENT},
    {"alone it is within the margin, but not jointly", 0.001, 0.002, 0.04, 0.06, 1e-2, COMPARE_REGRESSION},
    {"nothing was found, and alone it is within the margin", -0.06, -0.04, 0.04, 0.06, 1e-2, COMPARE_EQUIVALENT},
    {"it may be larger than the margin", 0.001, 0.002, 0.06, INFINITY, 1e-2, COMPARE_REGRESSION},
    {"it is larger than the margin", 0.06, 0.06, 0.07, 0.08, 1e-4, COMPARE_REGRESSION},
    {"for the better, it may be larger than the margin", -INFINITY, -0.06, -0.002, -0.001, 1e-2, COMPARE_IMPROVEMENT},
    {"within the margin, but noise is larger", -0.001, 0.001, 0.002, INFINITY, 0.1, COMPARE_UNDECIDED},
    {"a change in spite of noise", 0.001, 0.001, 0.002, INFINITY, 0.1, COMPARE_REGRESSION},
    {"nothing is known", -INFINITY, -INFINITY, INFINITY, INFINITY, 1e-4, COMPARE_UNDECIDED},
};

static void test_single(void)
{
	for (size_t i = 0; i < sizeof(single) / sizeof(single[0]); i++) {
		struct compare_values v = {.level = {0.5, 0.5}};
		struct perm_quantity q = {.low = single[i].low,
					  .low_alone = single[i].low_alone,
					  .high_alone = single[i].high_alone,
					  .high = single[i].high,
					  .error = single[i].error,
					  .df = 6};
		struct compare_entry t = {.values = &v, .margin = 0.05, .perm = &q};

		is_str(compare_verdicts[compare_entry_verdict(&t)], compare_verdicts[single[i].verdict], "%s",
		       single[i].name);
	}
}

/*
 * Messages that were late, of 20000 of each boot, in boots that agree better than chance would have them. The first were
 * found in a guest whose ticks beat with the messages; the kernels differed by 7 ns in 7.9 us.
 */
static const struct {
	const char *name;
	double late[2][4]; /* BASE, NEW */
	enum compare_verdict verdict;
} counted[] = {
    {"33 late messages of each boot instead of 42", {{33, 33, 33, 33}, {42, 43, 42, 42}}, COMPARE_UNDECIDED},
    {"the same for the better", {{42, 43, 42, 42}, {33, 33, 33, 33}}, COMPARE_UNDECIDED},
    {"twice as many", {{33, 33, 33, 33}, {66, 66, 67, 66}}, COMPARE_REGRESSION},
    {"half as many", {{66, 66, 67, 66}, {33, 33, 33, 33}}, COMPARE_IMPROVEMENT},
    {"6 instead of none", {{0, 0, 0, 0}, {6, 6, 7, 6}}, COMPARE_REGRESSION},
    {"none at all", {{0, 0, 0, 0}, {0, 0, 0, 0}}, COMPARE_EQUIVALENT},
};

static void test_counted(void)
{
	struct perm_plan plan;

	ok(!perm_plan_make(&plan, 4, 4, false, PERM_MAX, 1), "a plan of 4 and 4 boots");
	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++) {
		double value[8];
		struct compare_values v = {.of.measure = MEASURE_SHARE, .counted = {80000, 80000}};
		struct perm_quantity q = {.value = value, .weight = 0.6};
		struct compare_entry t = {.values = &v, .perm = &q};

		for (size_t k = 0; k < 8; k++) {
			value[k] = counted[i].late[k / 4][k % 4] / 20000;
			v.level[k / 4] += value[k] / 4;
		}
		t.margin = fmax(0.15 * v.level[ARM_BASE], 1e-4);
		ok(!perm_judge(&plan, &q, 1, 0.05, PERM_IS_WORSE), "judged");
		is_str(compare_verdicts[compare_entry_verdict(&t)], compare_verdicts[counted[i].verdict], "%s",
		       counted[i].name);
	}
	perm_plan_free(&plan);
}

int main(void)
{
	test_single();
	test_counted();
	test_shown();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct verdict_counts t = counts_of(i);

		is_str(compare_verdicts[compare_verdict_overall(&t)], compare_verdicts[cases[i].overall], "%s: overall",
		       cases[i].name);
		is_str(compare_outcomes[compare_verdict_outcome(&t)], compare_outcomes[cases[i].outcome],
		       "%s: is it slower?", cases[i].name);
	}
	is_int(compare_verdict_status(OUTCOME_REGRESSION), STATUS_NO, "a regression has the exit status of a no");
	is_int(compare_verdict_status(OUTCOME_UNDECIDED), STATUS_UNDECIDED, "undecided has an exit status of its own");
	return done_testing();
}
