/* How finely a list of samples is known, from its digits and its values. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "measure/import/reading.h"
#include "tests/unit/tap.h"

#define S  1000000000
#define US 1000

/* `count` samples of a clock whose step is `tick_ns`, between 10 and 25 us, printed with `format` as seconds. */
static void steps_of(const char *format, double tick_ns, unsigned count, int64_t *digits, int64_t *clock, int64_t *ppm)
{
	struct written_step w = {.samples = 0};
	unsigned state = 1;

	for (unsigned i = 0; i < count; i++) {
		char text[64];
		double ns;

		state = state * 1103515245 + 12345;
		ns = round((10000 + (state >> 8) % 15000000 / 1e3) / tick_ns) * tick_ns;
		snprintf(text, sizeof(text), format, ns / S);
		written_step_add(&w, text, S, strtod(text, NULL) * S);
	}
	written_step_find(&w, digits, clock, ppm);
	written_step_free(&w);
}

static void test_formats(void)
{
	static const struct {
		const char *name, *format;
		double tick_ns;
		unsigned count;
		int64_t digits, clock_least, clock_most, ppm_least, ppm_most;
	} cases[] = {
	    {"six digits", "%g", 0.001, 1000, 1, 1, 10, 0, 100},
	    {"three digits", "%.3g", 0.001, 1000, 100, 100, 100, 0, 10000},
	    {"two digits", "%.2g", 0.001, 1000, 1000, 1000, 1000, 0, 100000},
	    {"one digit", "%.1g", 0.001, 1000, 10000, 10000, 10000, 0, 1000000},
	    {"an exponent with all its digits", "%.3e", 0.001, 1000, 10, 10, 10, 0, 0},
	    {"with a capital letter", "%.2E", 0.001, 1000, 100, 100, 100, 0, 0},
	    {"microseconds", "%.6f", 0.001, 1000, 1000, 1000, 1000, 0, 0},
	    {"digits beyond the clock's", "%.9f", 1000, 1000, 1, 1000, 1000, 0, 0},
	    {"a few of them", "%.9f", 1000, 12, 1, 1000, 5000, 0, 0},
	    {"differences of doubles of the time since 1970", "%.17g", 238.418579, 1000, 1, 238, 239, 0, 0},
	    {"whole seconds", "%.0f", 0.001, 5, S, 0, 0, 0, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t digits, clock, ppm;

		steps_of(cases[i].format, cases[i].tick_ns, cases[i].count, &digits, &clock, &ppm);
		is_int(digits, cases[i].digits, "%s: as it is written", cases[i].name);
		ok(clock >= cases[i].clock_least && clock <= cases[i].clock_most, "%s: the clock's step (%lld ns)",
		   cases[i].name, (long long)clock);
		ok(ppm >= cases[i].ppm_least && ppm <= cases[i].ppm_most, "%s: of the value (%lld ppm)", cases[i].name,
		   (long long)ppm);
	}
}

/* Texts as they are, in microseconds. */
static void is_step(const char *name, const char *const *texts, size_t count, int64_t digits, int64_t ppm)
{
	struct written_step w = {.samples = 0};
	int64_t of_digits, of_clock, of_ppm;

	for (size_t i = 0; i < count; i++)
		written_step_add(&w, texts[i], US, strtod(texts[i], NULL) * US);
	written_step_find(&w, &of_digits, &of_clock, &of_ppm);
	is_int(of_digits, digits, "%s: as it is written", name);
	is_int(of_ppm, ppm, "%s: of the value", name);
	written_step_free(&w);
}

static void test_texts(void)
{
	static const char *const mixed[] = {"12.16", "1.21e1", "1.216e+01", "12"}, *const zeros[] = {"0", "0"};
	static const char *const whole[] = {"1200", "1250", "3", "12000", "15000", "20000", "80000"};
	static const char *const larger[] = {"9.8",   "9.7", "9.9",   "9.1",   "12",	"13",
					     "1.5e1", "11",  "1.3e2", "1.1e2", "1.2e2", "1.9e2"};

	is_step("notations that differ", mixed, 4, 10, 0);
	is_step("nothing but zeros", zeros, 2, US, 0);
	is_step("whole numbers that end in zeros", whole, 7, US, 0);
	is_step("two digits of each", larger, 12, 100, 90910);
}

int main(void)
{
	test_formats();
	test_texts();
	return done_testing();
}
