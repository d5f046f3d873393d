/* The bins of histogram figures: their width follows from the limit, unless the bulk would not be
 * seen. */
#include <stdlib.h>

#include "report/histogram_plot.h"
#include "tests/unit/tap.h"

#define US 1000

/* A series of `count` messages: a share of them at `median`, the rest at `tail`. */
struct made {
	int64_t value[2];
	uint64_t count[2];
	struct report_series series;
};

static void make_series(struct made *m, int64_t median, uint64_t most, int64_t tail, uint64_t rest)
{
	bool swapped = tail < median;

	*m = (struct made){.value = {swapped ? tail : median, swapped ? median : tail},
			   .count = {swapped ? rest : most, swapped ? most : rest}};
	m->series.histogram = (struct histogram){m->value, m->count, rest ? 2 : 1, 1};
	m->series.count = most + rest;
}

static void test_width(void)
{
	static const struct {
		int64_t limit, median, tail;
		uint64_t rest; /* of 1000 messages */
		int64_t low, width;
		const char *what;
	} cases[] = {
	    {10 * US, 1250, 9 * US, 5, 0, 100, "10 us: 100 ns"},
	    {50 * US, 2000, 9 * US, 5, 0, 500, "50 us: 500 ns"},
	    {30 * US, 2000, 9 * US, 5, 0, 500, "in between: the next of 1, 2, 5, so that the limit is in the figure"},
	    {1000 * US, 90 * US, 95 * US, 5, 0, 10 * US, "1 ms: 10 us"},
	    {10 * US, 1250, 500 * US, 50, 0, 100, "a few beyond change nothing"},
	    {10 * US, 5 * US, 40 * US, 150, 0, 500, "more than a tenth beyond: as wide as the data"},
	    {10 * US, 42 * US, 50 * US, 5, 0, 1 * US, "all beyond: likewise"},
	    {10 * US, 143, 150, 5, 0, 2, "a median in the first two bins: as fine as the data"},
	    {10 * US, 200, 300, 5, 0, 100, "one in the third is seen"},
	    {10 * US, 80, 900 * US, 50, 0, 10, "a tail does not squeeze the bulk into one bin"},
	    {10 * US, 1000, -700, 5, -1000, 50, "values below 0 have a place"},
	    {INT64_MAX, 1000, 1100, 5, 0, 20, "without a limit to speak of: as the data"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct report_series *of[1];
		struct made made;
		struct bins b;

		make_series(&made, cases[i].median, 1000 - cases[i].rest, cases[i].tail, cases[i].rest);
		of[0] = &made.series;
		bins_make(&b, of, 1, cases[i].limit);
		ok(b.low == cases[i].low && b.width == cases[i].width && b.high == b.low + BINS * b.width,
		   "%s: from %lld ns, each %lld ns", cases[i].what, (long long)b.low, (long long)b.width);
		bins_free(&b);
	}
}

static void test_counts(void)
{
	struct made one, two;
	const struct report_series *of[] = {&one.series, &two.series};
	struct bins b;

	make_series(&one, 1250, 990, 12 * US, 10);
	make_series(&two, 1300, 500, 9999, 20);
	bins_make(&b, of, 2, 10 * US);
	ok(b.of[0].count[13] == 990 && b.of[1].count[14] == 500, "each series is counted in the same bins");
	ok(b.of[0].count[BINS_BEYOND] == 10 && b.of[1].count[BINS_BEYOND] == 0, "what is beyond, beside them");
	ok(b.of[1].count[BINS] == 20, "the last bin ends at the limit");
	is_int((long long)bins_peak(&b, 0), 990, "the highest is known");
	is_int((long long)bins_peak(&b, 50), 20, "and that on the right");
	bins_free(&b);
	make_series(&two, 30 * US, 500, 31 * US, 20);
	bins_make(&b, of, 2, 10 * US);
	ok(b.high > 30 * US, "another series has a place, too");
	bins_free(&b);
}

/* A bulk at 98 ns whose tail reaches milliseconds. */
static void test_logarithmic(void)
{
	struct made made;
	const struct report_series *of[] = {&made.series};
	struct bins b;

	make_series(&made, 98, 600, 5000 * US, 400);
	bins_make(&b, of, 1, 10 * US);
	ok(!b.width && b.low == 98 && b.high > 5000 * US, "bins grow by a factor, from %lld ns to %lld ns",
	   (long long)b.low, (long long)b.high);
	is_int((long long)b.of[0].count[BINS_BELOW + 1], 600, "the bulk is in the first of them");
	is_int((long long)bins_peak(&b, 50), 400, "and the tail is seen, too");
	bins_free(&b);
}

/* Files may say anything. */
static void test_extremes(void)
{
	static const struct {
		int64_t limit, median, tail;
	} cases[] = {{10 * US, INT64_MAX, 1000}, {INT64_MIN, INT64_MIN, INT64_MAX}, {INT64_MAX, INT64_MIN, 1000}};
	const struct report_series *of[1];
	struct made made = {.count = {0}};
	struct bins b;

	of[0] = &made.series;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make_series(&made, cases[i].median, 900, cases[i].tail, 100);
		made.series.histogram.width = (int64_t)1 << 62;
		bins_make(&b, of, 1, cases[i].limit);
		ok((b.width > 0 || b.low > 0) && b.low < b.high, "extremes %zu: from %lld to %lld ns", i + 1,
		   (long long)b.low, (long long)b.high);
		bins_free(&b);
	}
	make_series(&made, 1250, 990, INT64_MAX, 10);
	made.series.histogram.width = 2;
	bins_make(&b, of, 1, 10 * US);
	is_int((long long)b.of[0].count[BINS_BEYOND], 10, "the last of all values is beyond, not below");
	bins_free(&b);
}

int main(void)
{
	test_width();
	test_counts();
	test_logarithmic();
	test_extremes();
	return done_testing();
}
