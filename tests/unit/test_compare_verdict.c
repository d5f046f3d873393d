/* The overall verdict of several quantities, and whether it became slower. */
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

static struct verdict_tally tally_of(size_t i)
{
	struct verdict_tally t = {.open = 0};
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
	struct verdict_tally missing = {.open = 0};

	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		struct verdict_tally t = {.open = 0};

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

int main(void)
{
	test_shown();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct verdict_tally t = tally_of(i);

		is_str(compare_verdicts[compare_verdict_overall(&t)], compare_verdicts[cases[i].overall], "%s: overall",
		       cases[i].name);
		is_str(compare_outcomes[compare_verdict_outcome(&t)], compare_outcomes[cases[i].outcome],
		       "%s: is it slower?", cases[i].name);
	}
	is_int(compare_verdict_status(OUTCOME_REGRESSION), STATUS_NO, "a regression has the exit status of a no");
	is_int(compare_verdict_status(OUTCOME_UNDECIDED), STATUS_UNDECIDED, "undecided has an exit status of its own");
	return done_testing();
}
