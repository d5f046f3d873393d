/* Periods found in sequences whose truth is known, and what is said of them. */
#include <string.h>

#include "common/json.h"
#include "common/npy.h"
#include "judge/analysis/pattern.h"
#include "judge/analysis/period_score.h"
#include "measure/transports/scripted_script.h"
#include "series_model.h"
#include "summary_documents.h"
#include "tap.h"

static uint64_t state = 20261122;

/* --- parts --- */

static void test_order(void)
{
	static const int64_t values[] = {5, -3, NEVER, 5, INT64_MAX, 0, -3, 1000000};
	static const uint32_t expected[] = {2, 1, 6, 5, 0, 3, 7, 4};
	uint32_t order[8], spare[8];

	order_of(values, 8, order, spare);
	ok(!memcmp(order, expected, sizeof(order)),
	   "values of any sign and size are sorted, equal ones in their order");
}

/* What the phases explain, as Kruskal and Wallis wrote it. */
static double explained_by_hand(const double *ranks, size_t count, unsigned period)
{
	double sum = 0;

	for (unsigned p = 0; p < period; p++) {
		double of_phase = 0;
		size_t n = 0;

		for (size_t i = p; i < count; i += period, n++)
			of_phase += ranks[i];
		sum += of_phase * of_phase / (double)n;
	}
	return sum;
}

static void test_score(void)
{
	static struct period_scores s;
	struct period_sequence sequence = model_sequence(960, &state);
	struct period_pieces pieces;
	bool same = true;

	model_add(&sequence, 12, 3, 4, 60);
	period_pieces(&sequence, 1, &pieces);
	period_score(&pieces, &s);
	is_int(s.most, 240, "periods are looked for of which there are four");
	for (unsigned p = 2; p <= s.most; p++)
		if (960 % p == 0)
			same &= fabs(s.explained[p] - explained_by_hand(pieces.list[0].ranks, 960, p)) < 1e-6;
	ok(same, "all periods at once are scored as each one is by hand");
	period_pieces_free(&pieces);
	free(sequence.values);
}

static void test_evidence(void)
{
	/* p of a chi-squared value of 50 with 10 degrees of freedom is 2.7e-7. */
	const double bound = period_evidence(50, 10);

	ok(bound > 10 && bound < 16, "the evidence is about -ln p: %.1f", bound);
	ok(period_evidence(10, 10) == 0 && period_evidence(3, 10) == 0, "what chance explains is no evidence");
}

/* --- one sequence --- */

static void check_one(const char *what, struct period_sequence sequence, unsigned period, unsigned first, unsigned last)
{
	struct periods p;

	periods_find(&sequence, 1, &p);
	is_int(p.count ? p.level[0].fold.period : 0, period, "%s: the period", what);
	if (p.count && first)
		ok(model_phases_are(&p.level[0].fold, first, last), "%s: phases %u-%u", what, first, last);
	periods_free(&p);
	free(sequence.values);
}

static struct period_sequence with_pattern(size_t count, unsigned period, unsigned first, unsigned last, int64_t longer)
{
	struct period_sequence s = model_sequence(count, &state);

	model_add(&s, period, first, last, longer);
	return s;
}

static struct period_sequence constant(size_t count)
{
	struct period_sequence s = {calloc(count, sizeof(int64_t)), count};

	for (size_t i = 0; i < count; i++)
		s.values[i] = MODEL_BASE;
	return s;
}

/* Each value leans on the one before. */
static struct period_sequence correlated(size_t count, double share)
{
	struct period_sequence s = {calloc(count, sizeof(int64_t)), count};
	double value = 0;

	for (size_t i = 0; i < count; i++) {
		value = share * value + fixture_normal(&state);
		s.values[i] = (int64_t)(MODEL_BASE + MODEL_SIGMA * value);
	}
	return s;
}

static void test_shapes(void)
{
	struct period_sequence s;

	check_one("2 of 32", with_pattern(10000, 32, 31, 32, MODEL_SIGMA), 32, 31, 32);
	check_one("every other", with_pattern(4000, 2, 2, 2, 1400), 2, 2, 2);
	check_one("1 of 31", with_pattern(4000, 31, 31, 31, 500), 31, 31, 31);
	check_one("8 of 2000", with_pattern(60000, 2000, 11, 18, 800), 2000, 11, 18);
	check_one("nothing", model_sequence(10000, &state), 0, 0, 0);
	check_one("all alike", constant(5000), 0, 0, 0);
	check_one("too few", model_sequence(7, &state), 0, 0, 0);
	check_one("none", model_sequence(0, &state), 0, 0, 0);
	check_one("correlated by half", correlated(10000, 0.5), 0, 0, 0);
	check_one("correlated by nine tenths", correlated(10000, 0.9), 0, 0, 0);
	s = constant(5000);
	model_add(&s, 32, 31, 32, 4000);
	check_one("nothing but a pattern", s, 32, 31, 32);
	s = with_pattern(10000, 32, 31, 32, 300);
	for (size_t i = 0; i < s.count; i += 100)
		s.values[i] = NEVER;
	check_one("with lost messages", s, 32, 31, 32);
	s = with_pattern(10000, 32, 31, 32, 300);
	for (size_t i = 5000; i < s.count; i++)
		s.values[i] += 3000;
	check_one("with a step in the middle", s, 32, 0, 0);
}

/* Where neighbours are alike, the phases of a period explain less by chance than elsewhere, and a share beyond chance is
 * still a share. */
static void test_strength(void)
{
	unsigned found = 0, right = 0, weak = 0;

	for (unsigned i = 0; i < 50; i++) {
		struct period_sequence s = correlated(2000, 0.97);
		struct periods p;

		model_add(&s, 64, 64, 64, 3 * MODEL_SIGMA);
		periods_find(&s, 1, &p);
		right += p.count && p.level[0].fold.period == 64;
		for (size_t k = 0; k < p.count; k++) {
			found++;
			weak += p.level[k].strength <= 0;
		}
		periods_free(&p);
		free(s.values);
	}
	ok(right >= 45, "1 of 64 higher in correlated sequences: found in %u of 50", right);
	ok(weak == 0, "of all %u periods in them, %u explain nothing", found, weak);
}

/* Just these periods, in this order. */
static bool periods_are(const struct periods *p, const unsigned *period, size_t count, const char *what)
{
	if (!is_int(p->count, count, "%s", what))
		return false;
	for (size_t i = 0; i < count; i++)
		is_int(p->level[i].fold.period, period[i], "%s: period %zu", what, i + 1);
	return true;
}

/* 10000 receive buffers in the source: 3.15 us, 3.8 at 31-32, 4.5 at 127-128, 5.5 at 255-256. */
static void test_nested(void)
{
	struct period_sequence s = model_sequence(10000, &state);
	struct periods p;

	model_add(&s, 32, 31, 32, 650);
	model_add(&s, 128, 127, 128, 700);
	model_add(&s, 256, 255, 256, 1000);
	periods_find(&s, 1, &p);
	if (periods_are(&p, (const unsigned[]){32, 128, 256}, 3, "three periods, one in the other")) {
		ok(model_phases_are(&p.level[0].fold, 31, 32), "31-32 stand out");
		ok(model_phases_are(&p.level[1].fold, 127, 128), "beyond these, 127-128");
		is_int(p.level[2].fold.phase[255].out, 1, "beyond these, 256");
	}
	periods_free(&p);
	free(s.values);
}

/* RAMCloud's shared queue: half of the phases 15-16 of 16 is higher, so that their median may be of either half. */
static void test_half_of_a_period(void)
{
	struct period_sequence s = model_sequence(12016, &state);
	struct periods p;

	model_add(&s, 16, 15, 16, 21000);
	model_add(&s, 32, 15, 16, 16500);
	periods_find(&s, 1, &p);
	if (periods_are(&p, (const unsigned[]){16, 32}, 2, "a period, and its double in it")) {
		is_int(p.level[1].fold.phase[14].out, 1, "beyond the first, 15 is above");
		is_int(p.level[1].fold.phase[15].out, 1, "and 16");
		is_int(p.level[1].fold.phase[30].out, -1, "31 is below");
		is_int(p.level[1].fold.phase[31].out, -1, "and 32");
	}
	periods_free(&p);
	free(s.values);
}

/* --- how often it errs: thousands in tests/bench/pattern_rates.c --- */

static void test_rates(void)
{
	const unsigned without = 300, with = 40;
	unsigned wrong = 0, found = 0, right = 0;

	for (unsigned i = 0; i < without + with; i++) {
		struct period_sequence s =
		    i < without ? model_sequence(4000, &state) : with_pattern(4000, 32, 31, 32, MODEL_SIGMA);
		struct periods p;

		periods_find(&s, 1, &p);
		wrong += i < without && p.count;
		if (i >= without && p.count && p.level[0].fold.period == 32) {
			found++;
			right += model_phases_are(&p.level[0].fold, 31, 32);
		}
		periods_free(&p);
		free(s.values);
	}
	ok(wrong <= 4, "without a period %u of %u have one", wrong, without);
	ok(found >= with - 2, "2 of 32 higher by a standard deviation: found in %u of %u", found, with);
	is_int(right, found, "and in all of these the phases are right");
}

/* --- the block --- */

/* Two repetitions of rtt_ns; the ring of the second is 5 messages ahead. */
static json_t *block_of(bool lag)
{
	const struct layout_series series = {
	    .name = "turn_ns", .column = 1, .minus = lag ? -1 : 0, .only_where_recorded = -1, .lag = lag};
	const struct layout_flow flow = {.name = "", .series = (struct layout_series *)&series, .series_count = 1};
	static int64_t begin[2][3000], end[2][3000];
	struct npy columns[2][2];
	struct rep reps[2];
	int64_t now = 0;
	json_t *block;

	for (unsigned r = 0; r < 2; r++) {
		for (unsigned i = 0; i < 3000; i++) {
			begin[r][i] = now;
			now += 3000 + (int64_t)random_below(&state, 200) + ((i + 5 * r) % 32 >= 30 ? 2000 : 0);
			end[r][i] = now;
		}
		columns[r][0] = (struct npy){.data = begin[r], .count = 3000};
		columns[r][1] = (struct npy){.data = end[r], .count = 3000};
		reps[r] = (struct rep){.number = r, .is_whole = true, .column_count = 2, .columns = columns[r]};
	}
	block = document_of_block(&pattern_block, &flow, reps, 2);
	return block;
}

static void check_block(bool lag, const char *what)
{
	json_t *block = block_of(lag);
	const json_t *high = json_array_get(json_object_get(block, "high"), 0);
	const json_t *second = json_array_get(json_object_get(block, "reps"), 1);

	is_int(json_integer_value(json_object_get(block, "period")), 32, "%s: the period", what);
	is_str(json_text(high, "phases"), "31-32", "%s: the slowest phases", what);
	ok(llabs(json_integer_value(json_object_get(high, "p50_ns")) - 5100) < 30, "%s: their median", what);
	ok(llabs(json_integer_value(json_object_get(block, "base_ns")) - 3100) < 30, "%s: the others'", what);
	is_int(json_integer_value(json_object_get(block, "high_first")), 31, "%s: from phase", what);
	is_int(json_integer_value(json_object_get(second, "shift")), 5, "%s: the second ring is ahead", what);
	json_decref(block);
}

/* --- what the script says --- */

static void check_bad(const char *text, const char *part)
{
	char why[256] = "";

	ok(scripted_patterns_check(text, why, sizeof(why)) < 0, "'%s' is refused", text);
	contains(why, part, "'%s' is refused for the right reason", text);
}

static void test_script(void)
{
	static const char two[] = "32:31-32:4us 4:1:250ns";
	struct scripted_settings settings = {.delay = 1000};
	struct scripted_script script;

	snprintf(settings.pattern, sizeof(settings.pattern), "%s", two);
	scripted_script_read(&script, &settings, &(struct schedule){.messages = 100});
	ok(!scripted_patterns_check("", NULL, 0) && !scripted_patterns_check(two, NULL, 0), "patterns are accepted");
	is_int(scripted_delay(&script, 30), 5000, "message 31 of 32");
	is_int(scripted_delay(&script, 63), 5000, "message 64");
	is_int(scripted_delay(&script, 32), 1250, "message 33, the first of 4");
	is_int(scripted_delay(&script, 1), 1000, "any other");
	scripted_script_free(&script);
	check_bad("32:31-32", "PERIOD:PHASES:TIME");
	check_bad("1:1:4us", "from 2 to 8191");
	check_bad("32:31-33:4us", "from 1 to the period");
	check_bad("32:0:4us", "from 1 to the period");
	check_bad("32::4us", "from 1 to the period");
	check_bad("32:31:4parsec", "such as 4us");
}

int main(void)
{
	test_order();
	test_score();
	test_evidence();
	test_shapes();
	test_strength();
	test_nested();
	test_half_of_a_period();
	test_rates();
	check_block(false, "a difference of columns");
	check_block(true, "from message to message");
	test_script();
	return done_testing();
}
