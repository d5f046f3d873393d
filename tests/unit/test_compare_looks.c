/* Looks at a comparison while its boots are being made: where they are, and what they may use up. */
#include <math.h>

#include "tests/unit/synthetic_runs.h"
#include "tests/unit/tap.h"

static void looks_are(size_t planned, size_t least, bool pairs, double alpha, const char *expected)
{
	struct look looks[LOOKS_MOST];
	size_t count = compare_looks(planned, least, pairs, alpha, looks), used = 0;
	double sum = 0;
	char text[128] = "";

	for (size_t i = 0; i < count; i++) {
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%zu", i ? " " : "", looks[i].units);
		sum += looks[i].level;
	}
	is_str(text, expected, "of %zu planned at %g %%: looks at %s", planned, 100 * alpha, expected);
	ok(fabs(sum - alpha) < 1e-12 && looks[count - 1].level > alpha / 2,
	   "the parts are alpha, and the last has most of it");
}

static void test_where(void)
{
	looks_are(4, 4, false, 0.05, "4");
	looks_are(6, 4, false, 0.05, "4 5 6");
	looks_are(8, 4, false, 0.05, "4 6 8");
	looks_are(20, 4, false, 0.05, "10 15 20");
	looks_are(8, 4, false, 0.01, "6 7 8");
	looks_are(8, 6, true, 0.05, "7 8");
	looks_are(3, 4, false, 0.05, "3");
}

/* Between looks nothing is said; at each the interval is that of its own level. */
static void test_levels(void)
{
	struct synthetic s = synthetic_usual;
	const struct compare_rule rule = {SYNTHETIC_RULE, .planned = 8};
	struct compare_runs all;

	s.messages = 1000;
	s.slower = 0.2;
	s.seed = 1;
	all = synthetic_make(&s);
	is_int(synthetic_judge(&all, 3, &rule, false).status, STATUS_UNDECIDED, "three boots are too few");
	is_int(synthetic_judge(&all, 4, &rule, false).status, STATUS_NO, "20 %% slower is found at the first look");
	is_int(synthetic_judge(&all, 5, &rule, false).status, STATUS_UNDECIDED, "no verdict between two looks");
	is_int(synthetic_judge(&all, 5, &rule, false).median, -1, "and no quantity is judged");
	is_int(synthetic_judge(&all, 8, &rule, false).status, STATUS_NO, "the last look finds it, too");
	compare_runs_free(&all);
}

/* All looks together give no more false alarms than one comparison; they end early where there is much to see. */
static void test_rates(void)
{
	const struct compare_rule rule = {SYNTHETIC_RULE};
	size_t alarms = 0, found = 0, boots, spent = 0;
	const size_t trials = SYNTHETIC_TRIALS, few = trials / 5;
	struct synthetic s = synthetic_usual;

	s.messages = 1000;
	s.spread = 0.02;
	for (s.seed = 7000; s.seed < 7000 + trials; s.seed++) {
		struct synthetic_verdict v = synthetic_sequence(&s, &rule, &boots);

		alarms += v.worst == COMPARE_REGRESSION || v.worst == COMPARE_IMPROVEMENT;
	}
	ok(alarms <= SYNTHETIC_ALARMS, "nothing changed: %zu of %zu false alarms over all looks", alarms, trials);
	s.slower = 0.1;
	for (s.seed = 8000; s.seed < 8000 + few; s.seed++) {
		found += synthetic_sequence(&s, &rule, &boots).status == STATUS_NO;
		spent += boots;
	}
	is_int((long long)found, (long long)few, "10 %% slower: found each time");
	ok(spent <= few * 5, "and with %.1f of 8 boots", (double)spent / (double)few);
}

int main(void)
{
	test_where();
	test_levels();
	test_rates();
	return done_testing();
}
