#include <errno.h>
#include <math.h>
#include <stdint.h>

#include "common/err.h"
#include "common/npy.h"
#include "judge/analysis/flow_summary.h"
#include "judge/analysis/histogram.h"
#include "judge/analysis/series.h"
#include "judge/analysis/statistics.h"
#include "numpy.h"
#include "tap.h"

#define MANY 50000

static uint64_t seed = 20240229;

static uint64_t random_bits(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static double uniform(void)
{
	return (double)(random_bits() >> 11) * 0x1p-53;
}

/* Shapes of distributions: each value from one call. */

static int64_t narrow(void)
{
	return 1200 + (int64_t)(random_bits() % 400);
}

static int64_t long_tail(void)
{
	return (int64_t)(1200 / pow(1 - uniform(), 0.8));
}

static int64_t wide(void)
{
	return (int64_t)(random_bits() % 1000000000);
}

static int64_t negative(void)
{
	return -(int64_t)(random_bits() % 5000000);
}

static int64_t two_worlds(void)
{
	return uniform() < 0.985 ? narrow() : 2000000000000 + wide();
}

static int64_t outliers_below(void)
{
	return uniform() < 0.01 ? -4000000000000 - wide() : narrow();
}

/* A cluster where the window over the bulk is likely to begin: what is just outside counts as
 * outside. */
static int64_t at_the_edge(void)
{
	return (int64_t)(uniform() < 0.009 ? -16500 + random_bits() % 400 : random_bits() % 90000);
}

static int64_t constant(void)
{
	return 1269;
}

static int64_t two_values(void)
{
	return random_bits() & 1 ? 7 : 1000007;
}

static int64_t at_the_top(void)
{
	return INT64_MAX - (int64_t)(random_bits() % 300);
}

static int64_t at_the_bottom(void)
{
	return INT64_MIN + 1 + (int64_t)(random_bits() % 300);
}

static int64_t anything(void)
{
	int64_t v = (int64_t)random_bits();

	return v == NEVER ? 0 : v;
}

static int64_t any_size(void)
{
	return anything() >> (random_bits() % 64);
}

/* One in nine: of millions, more than are kept apart. */
static int64_t much_outside(void)
{
	return (int64_t)(uniform() < 0.11 ? 1000000 + random_bits() % (1 << 30) : random_bits() % 20000);
}

static const struct shape {
	const char *name;
	int64_t (*draw)(void);
} shapes[] = {
    {"narrow", narrow},		  {"long tail", long_tail},	    {"wide", wide},
    {"negative", negative},	  {"two worlds", two_worlds},	    {"outliers below", outliers_below},
    {"at the edge", at_the_edge}, {"constant", constant},	    {"two values", two_values},
    {"at the top", at_the_top},	  {"at the bottom", at_the_bottom}, {"anything", anything},
    {"any size", any_size},
};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The plain way: sort, and sum distances from the middle, so that no digits get lost. */
static void reference(const int64_t *sorted, size_t n, int64_t limit, struct stats *s)
{
	static const unsigned parts[QUANTILES] = {1000, 5000, 9000, 9900, 9990, 9999};
	const __int128 middle = sorted[n / 2];
	long double mean = 0, square = 0;
	size_t over = 0;

	for (size_t i = 0; i < n; i++) {
		mean += (long double)(sorted[i] - middle) / (long double)n;
		over += sorted[i] > limit;
	}
	for (size_t i = 0; i < n; i++)
		square += ((long double)(sorted[i] - middle) - mean) * ((long double)(sorted[i] - middle) - mean);
	s->n = n;
	s->min = sorted[0];
	s->max = sorted[n - 1];
	s->mean = (double)((long double)middle + mean);
	s->stdev = n > 1 ? (double)sqrtl(square / (long double)(n - 1)) : 0;
	s->over_limit = (double)over / (double)n;
	for (int q = 0; q < QUANTILES; q++) {
		size_t rank = (n * parts[q] + 9999) / 10000;

		s->has_quantile[q] = (parts[q] < 5000 ? rank - 1 : n - rank) >= 20;
		s->quantile[q] = s->has_quantile[q] ? sorted[rank - 1] : 0;
	}
}

static bool is_near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b)) + 1e-9;
}

static void same_stats(const struct stats *got, const struct stats *want, const char *name, size_t n)
{
	bool same = true;

	for (int q = 0; q < QUANTILES; q++)
		same &= got->has_quantile[q] == want->has_quantile[q] && got->quantile[q] == want->quantile[q];
	ok(same, "%s, %zu samples: every quantile is that of a sort", name, n);
	ok(got->n == want->n && got->min == want->min && got->max == want->max, "%s, %zu samples: n, min, max", name,
	   n);
	ok(is_near(got->mean, want->mean), "%s, %zu samples: mean %.17g, want %.17g", name, n, got->mean, want->mean);
	ok(is_near(got->stdev, want->stdev), "%s, %zu samples: stdev %.17g, want %.17g", name, n, got->stdev,
	   want->stdev);
	ok(got->over_limit == want->over_limit, "%s, %zu samples: share over the limit", name, n);
}

static void test_shape(const struct shape *shape, size_t n)
{
	int64_t *values = calloc(n, sizeof(*values)), *sorted = calloc(n, sizeof(*sorted));
	/* In three pieces, one of them empty. */
	struct span spans[] = {{values, NULL, n / 3}, {values, NULL, 0}, {values + n / 3, NULL, n - n / 3}};
	struct stats got, want = {0};
	struct err e = ERR_INIT;

	for (size_t i = 0; i < n; i++)
		sorted[i] = values[i] = shape->draw();
	qsort(sorted, n, sizeof(*sorted), compare);
	reference(sorted, n, 10000, &want);
	ok(!stats_compute(spans, 3, 10000, &got, &e), "%s, %zu samples: computed", shape->name, n);
	same_stats(&got, &want, shape->name, n);
	free(values);
	free(sorted);
}

static void test_quantiles_are_exact(void)
{
	static const size_t sizes[] = {1, 2, 20, 39, 40, 41, 199, 200, 201, 1999, 2000, 2001, 20000, MANY};

	note("seed %llu", (unsigned long long)seed);
	for (size_t s = 0; s < SHAPES; s++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			test_shape(&shapes[s], sizes[i]);
	test_shape(&(struct shape){"much outside", much_outside}, 5000000);
}

static void test_null_quantiles(void)
{
	static const struct {
		size_t n;
		unsigned known; /* how many, from the median up */
	} rows[] = {{0, 0},    {1, 0},	   {39, 0},    {40, 1},	    {199, 1},	 {200, 2},    {1999, 2},
		    {2000, 3}, {19999, 3}, {20000, 4}, {199999, 4}, {200000, 5}, {1000000, 5}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (unsigned q = Q50; q < QUANTILES; q++)
			ok(quantile_is_known(q, rows[i].n) == (q - Q50 < rows[i].known), "%s of %zu samples is %sgiven",
			   statistics[STATISTIC_P10 + q].label, rows[i].n, q - Q50 < rows[i].known ? "" : "not ");
	ok(!quantile_is_known(Q10, 0) && !quantile_is_known(Q10, 200) && quantile_is_known(Q10, 201),
	   "p10 has to have as many below it");
	/* 0.99 * 1100 is 1089.0000000000001 in floating point. */
	is_int((long long)quantile_rank(Q99, 1100), 1089, "ranks are counted in integers");
	is_int((long long)quantile_rank(Q99_99, UINT64_MAX / 2), 9222449699651090330, "however many samples there are");
}

static void test_lost(void)
{
	const int64_t recv[] = {110, NEVER, 130, 145, NEVER}, subm[] = {100, 110, NEVER, 130, NEVER};
	struct span span = {recv, subm, 5};
	struct err e = ERR_INIT;
	struct stats s;
	json_t *j;

	ok(!stats_compute(&span, 1, 10, &s, &e), "a column with losses");
	ok(s.n == 2 && s.lost == 3, "two arrived, three were lost on either side");
	ok(s.min == 10 && s.max == 15, "losses have no part in min and max");
	ok(s.mean == 12.5 && is_near(s.stdev, sqrt(12.5)), "nor in mean and stdev");
	ok(s.over_limit == 0.5, "the limit itself is not over it");
	span.count = 0;
	ok(!stats_compute(&span, 1, 10, &s, &e) && s.n == 0 && s.lost == 0, "an empty column");
	ok(!stats_compute(NULL, 0, 10, &s, &e) && s.n == 0, "no column");
	span = (struct span){recv + 1, subm + 1, 1};
	ok(!stats_compute(&span, 1, 10, &s, &e) && s.n == 0 && s.lost == 1, "all lost");
	j = statistics_json(&s);
	ok(json_integer_value(json_object_get(j, "n")) == 0 && json_integer_value(json_object_get(j, "lost")) == 1,
	   "JSON says how many");
	for (const char *const *key = (const char *const[]){"min", "p10", "p50", "p99_99", "max", "mean", "stdev",
							    "p90_p10", "over_limit", NULL};
	     *key; key++)
		ok(json_is_null(json_object_get(j, *key)), "and null for %s", *key);
	json_decref(j);
}

/* One sample in fifty is a second late: that rules the standard deviation, and not the spread. */
static void test_spread(void)
{
	int64_t values[1000];
	const struct span span = {values, NULL, 1000};
	struct stats s;
	json_t *j;

	for (int i = 0; i < 1000; i++)
		values[i] = i % 50 ? i : 1000000000;
	ok(!stats_compute(&span, 1, 0, &s, NULL) && s.stdev > 1e8, "outliers rule the standard deviation");
	j = statistics_json(&s);
	is_int(json_integer_value(json_object_get(j, "p90_p10")),
	       json_integer_value(json_object_get(j, "p90")) - json_integer_value(json_object_get(j, "p10")),
	       "the spread is p90 less p10");
	ok(json_integer_value(json_object_get(j, "p90_p10")) < 1000, "and knows of no outliers");
	json_decref(j);
	s.quantile[Q90] = INT64_MAX;
	s.quantile[Q10] = -1;
	j = statistics_json(&s);
	ok(json_integer_value(json_object_get(j, "p90_p10")) == INT64_MAX,
	   "one that fits no 64 bits is the largest that does");
	json_decref(j);
}

static void test_overflow(void)
{
	const int64_t a[] = {INT64_MAX, INT64_MIN + 1, 5, INT64_MAX}, b[] = {-5, 7, 5, INT64_MIN + 1};
	struct span span = {a, b, 4};
	struct stats s;

	ok(!stats_compute(&span, 1, 0, &s, NULL), "differences that do not fit 64 bits");
	ok(s.max == INT64_MAX && s.min == INT64_MIN, "are the nearest value that does");
	ok(s.n == 4 && s.over_limit == 0.5, "and are counted");
	ok(isfinite(s.mean) && isfinite(s.stdev), "mean and stdev stay numbers");
}

/* 50 ns of jitter, whatever it is on top of: the thesis' tool lost it in integer microseconds. */
static void test_small_jitter(void)
{
	static const int64_t offsets[] = {0, 1269, 1000000000, 3600000000000, 4000000000000000000};
	int64_t values[1000];
	struct span span = {values, NULL, 1000};
	struct stats s;

	for (size_t k = 0; k < sizeof(offsets) / sizeof(offsets[0]); k++) {
		for (int i = 0; i < 1000; i++)
			values[i] = offsets[k] + (i & 1 ? 50 : -50);
		stats_compute(&span, 1, 10000, &s, NULL);
		ok(is_near(s.stdev, 50 * sqrt(1000.0 / 999)), "stdev of 50 ns around %lld ns: %.12g",
		   (long long)offsets[k], s.stdev);
		ok(s.mean == (double)offsets[k], "and its mean");
	}
}

static void test_memory_is_fixed(void)
{
	/* Half of what fits an int64, apart by random steps: every pass has to narrow, none may
	 * grow. */
	int64_t *values = calloc(MANY, sizeof(*values));
	struct span span = {values, NULL, MANY};
	struct stats s;

	for (size_t i = 0; i < MANY; i++)
		values[i] = (int64_t)(i % 5) * (INT64_MAX / 5) + (int64_t)(random_bits() % 3);
	ok(!stats_compute(&span, 1, 0, &s, NULL), "five clusters over the whole range");
	qsort(values, MANY, sizeof(*values), compare);
	is_int(s.quantile[Q50], values[MANY / 2 - 1], "the median");
	is_int(s.quantile[Q99], values[MANY / 100 * 99 - 1], "p99");
	free(values);
}

static void test_against_numpy(void)
{
	char *dir = tap_dir(), path[4096], want[1024], *got;
	int64_t *values = calloc(MANY, sizeof(*values));
	struct span span = {values, NULL, MANY};
	struct stats s;

	for (size_t i = 0; i < MANY; i++)
		values[i] = long_tail();
	snprintf(path, sizeof(path), "%s/x.npy", dir);
	npy_write(path, values, MANY, NULL);
	stats_compute(&span, 1, 10000, &s, NULL);
	snprintf(want, sizeof(want), "%lld %lld %lld %lld %lld %lld %.6f %.6f", (long long)s.min,
		 (long long)s.quantile[Q50], (long long)s.quantile[Q90], (long long)s.quantile[Q99],
		 (long long)s.quantile[Q99_9], (long long)s.max, s.mean, s.stdev);
	got = numpy_run("x = np.sort(np.load(sys.argv[1])); n = len(x)\n"
			"q = [int(x[-(-n * p // 10000) - 1]) for p in (5000, 9000, 9900, 9990)]\n"
			"print(x[0], *q, x[-1], \"%.6f %.6f\" % (x.mean(), x.std(ddof=1)))",
			path);
	if (got)
		is_str(want, got, "NumPy finds the same");
	else
		skip("python3-numpy is not installed");
	free(got);
	free(values);
	tap_dir_remove(dir);
}

/* --- histograms --- */

/* Different values of (sorted) `v >> shift`. */
static size_t count_different(const int64_t *v, size_t n, unsigned shift)
{
	size_t different = n > 0;

	for (size_t i = 1; i < n; i++)
		different += v[i] >> shift != v[i - 1] >> shift;
	return different;
}

static bool covers(const struct histogram *h, const int64_t *sorted, size_t n)
{
	size_t bin = 0;
	uint64_t seen = 0;

	for (size_t i = 0; i < n; i++) {
		while (bin < h->bins && seen == h->count[bin]) {
			bin++;
			seen = 0;
		}
		if (bin == h->bins || sorted[i] < h->value[bin] ||
		    (uint64_t)sorted[i] - (uint64_t)h->value[bin] >= (uint64_t)h->width)
			return false;
		seen++;
	}
	return !n || (bin + 1 == h->bins && seen == h->count[bin]);
}

static void test_histogram_shape(const struct shape *shape, size_t max_bins)
{
	int64_t *values = calloc(MANY, sizeof(*values));
	struct span span = {values, NULL, MANY};
	struct histogram h, again;
	struct err e = ERR_INIT;
	unsigned shift;
	json_t *j;

	for (size_t i = 0; i < MANY; i++)
		values[i] = shape->draw();
	ok(!histogram_compute(&span, 1, max_bins, &h, &e), "%s in %zu bins", shape->name, max_bins);
	qsort(values, MANY, sizeof(*values), compare);
	ok(h.bins <= max_bins && covers(&h, values, MANY), "%s: every sample is in its bin", shape->name);
	shift = (unsigned)__builtin_ctzll((uint64_t)h.width);
	ok(h.bins == count_different(values, MANY, shift) &&
	       (!shift || count_different(values, MANY, shift - 1) > max_bins),
	   "%s: the bins are as narrow as they can be (%lld)", shape->name, (long long)h.width);
	j = histogram_json(&h);
	ok(!histogram_from_json(j, &again, &e), "%s: through JSON", shape->name);
	ok(again.bins == h.bins && again.width == h.width && !memcmp(again.value, h.value, h.bins * sizeof(*h.value)) &&
	       !memcmp(again.count, h.count, h.bins * sizeof(*h.count)),
	   "%s: it is the same again", shape->name);
	json_decref(j);
	histogram_free(&again);
	histogram_free(&h);
	free(values);
}

static void test_histograms(void)
{
	const int64_t lost = NEVER;
	struct span none = {&lost, NULL, 1};
	struct histogram h;

	for (size_t s = 0; s < SHAPES; s++) {
		test_histogram_shape(&shapes[s], 4);
		test_histogram_shape(&shapes[s], 1000);
		test_histogram_shape(&shapes[s], 100000);
	}
	ok(!histogram_compute(&none, 1, 100, &h, NULL) && h.bins == 0 && h.width == 1,
	   "of nothing but losses: no bins");
	histogram_free(&h);
}

static void test_bad_histograms(void)
{
	static const char *const rows[] = {
	    "{}",
	    "[]",
	    "{\"width\": 1, \"values\": [1], \"counts\": []}",
	    "{\"width\": 0, \"values\": [], \"counts\": []}",
	    "{\"width\": 3, \"values\": [], \"counts\": []}",
	    "{\"width\": -4, \"values\": [], \"counts\": []}",
	    "{\"width\": 1.0, \"values\": [], \"counts\": []}",
	    "{\"width\": 1, \"values\": [1, 1], \"counts\": [1, 1]}",
	    "{\"width\": 1, \"values\": [2, 1], \"counts\": [1, 1]}",
	    "{\"width\": 1, \"values\": [1], \"counts\": [0]}",
	    "{\"width\": 1, \"values\": [1], \"counts\": [-1]}",
	    "{\"width\": 1, \"values\": [1.5], \"counts\": [1]}",
	    "{\"width\": 1, \"values\": [1], \"counts\": [\"1\"]}",
	    "{\"width\": 1, \"values\": [1, 2], \"counts\": [9223372036854775807, 1]}",
	    "{\"width\": 1, \"values\": {}, \"counts\": {}}",
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *j = json_loads(rows[i], 0, NULL);
		struct err e = ERR_INIT;
		struct histogram h;

		ok(histogram_from_json(j, &h, &e) == -EINVAL && !h.value, "refused: %s", rows[i]);
		contains(e.text, "histogram", "with a cause");
		json_decref(j);
	}
}

/* --- under way --- */

static int64_t depth_before(const int64_t *recv, const int64_t *subm, size_t i)
{
	int64_t depth = 0;

	for (size_t j = 0; j < i; j++)
		depth += subm[j] != NEVER && recv[j] != NEVER && recv[j] > subm[i];
	return depth;
}

/* Is what flight_compute finds what counting each message alone finds? `delay` may return NEVER for
 * a loss. */
static bool flight_is_right(size_t n, int64_t gap, int64_t (*delay)(void))
{
	int64_t *recv = calloc(n, sizeof(*recv)), *subm = calloc(n, sizeof(*subm)),
		*depths = calloc(n, sizeof(*depths));
	struct span span = {recv, subm, n};
	size_t sent = 0, lost = 0;
	struct flight f;
	bool right;

	for (size_t i = 0; i < n; i++) {
		int64_t d = delay();

		subm[i] = random_bits() % 50 ? (int64_t)i * gap : NEVER;
		recv[i] = d == NEVER ? NEVER : (int64_t)i * gap + d;
	}
	for (size_t i = 0; i < n; i++) {
		if (subm[i] == NEVER)
			continue;
		depths[sent++] = depth_before(recv, subm, i);
		lost += recv[i] == NEVER;
	}
	qsort(depths, sent, sizeof(*depths), compare);
	right = !flight_compute(&span, 1, &f, NULL) && f.is_known && f.sent == sent && f.lost == lost;
	right = right && f.max == depths[sent - 1] && f.has_p50 == (sent >= 40);
	right = right && (!f.has_p50 || f.p50 == depths[(sent + 1) / 2 - 1]);
	free(recv);
	free(subm);
	free(depths);
	return right;
}

static void test_flight_of(const char *name, int64_t gap, int64_t (*delay)(void))
{
	unsigned wrong = 0;

	for (size_t n = 30; n < 330; n++)
		wrong += !flight_is_right(n, gap, delay);
	is_int(wrong, 0, "under way: %s, wrong in so many of 300 repetitions", name);
}

static int64_t reordering(void)
{
	return random_bits() % 20 ? (int64_t)(random_bits() % 40) : NEVER;
}

static int64_t early(void)
{
	return (int64_t)(random_bits() % 40) - 10;
}

static int64_t forty(void)
{
	return 40;
}

static int64_t far_out_of_order(void)
{
	return (int64_t)(random_bits() % 300);
}

static int64_t burst(void)
{
	return 100000;
}

static void test_flight(void)
{
	int64_t recv[] = {5, 6, 7}, subm[] = {1, 3, 2};
	struct span span = {recv, subm, 3};
	struct flight f;

	test_flight_of("in order", 10, constant);
	test_flight_of("one at a time", 2000, constant);
	test_flight_of("reordered and lost", 3, reordering);
	test_flight_of("received before it was sent", 3, early);
	test_flight_of("received as another is sent", 10, forty);
	test_flight_of("all at the same time", 0, reordering);
	test_flight_of("far out of order", 3, far_out_of_order);
	test_flight_of("a burst", 1, burst);
	ok(!flight_compute(&span, 1, &f, NULL) && !f.is_known, "submissions that go back in time: not known");
	ok(!flight_compute(NULL, 0, &f, NULL) && !f.is_known && !f.sent, "nothing sent: not known");
}

/* So many that threads share them, over several spans, and with one that takes a pass of its own. */
static void test_shared(void)
{
	enum { SPAN = 900001, SPANS = 3 };
	int64_t *values = malloc(SPANS * SPAN * sizeof(*values)), *sorted = malloc(SPANS * SPAN * sizeof(*values));
	struct span spans[SPANS];
	struct stats s;
	uint64_t lost = 0;

	for (size_t i = 0; i < (size_t)SPANS * SPAN; i++) {
		values[i] = (int64_t)(i * 2654435761u % 999983) * (i % 2 ? 1000003 : 11) - 500;
		lost += i % 1001 == 7;
		if (i % 1001 == 7)
			values[i] = NEVER;
		sorted[i] = values[i];
	}
	for (size_t k = 0; k < SPANS; k++)
		spans[k] = (struct span){values + k * SPAN, NULL, SPAN};
	qsort(sorted, SPANS * SPAN, sizeof(*sorted), compare);
	is_int(stats_compute(spans, SPANS, 1000, &s, NULL), 0, "by several threads");
	is_int((int64_t)s.lost, (int64_t)lost, "what is lost in any share counts");
	is_int((int64_t)s.n, (int64_t)(SPANS * SPAN - lost), "and all else");
	for (unsigned q = 0; q < QUANTILES; q++)
		is_int(s.quantile[q], sorted[lost + quantile_rank(q, s.n) - 1], "each quantile is that of a sort");
	is_int(s.min, sorted[lost], "min");
	is_int(s.max, sorted[SPANS * SPAN - 1], "max");
	free(sorted);
	free(values);
}

/* More messages under way than a window has bins: the median takes a second pass. */
static void test_deep_flight(void)
{
	size_t n = 500003;
	int64_t *recv = calloc(n, sizeof(*recv)), *subm = calloc(n, sizeof(*subm));
	struct span span = {recv, subm, n};
	struct flight f;

	for (size_t i = 0; i < n; i++) {
		subm[i] = (int64_t)i;
		recv[i] = 1000000000 + (int64_t)i;
	}
	flight_compute(&span, 1, &f, NULL);
	is_int(f.max, 500002, "half a million under way");
	is_int(f.p50, 250001, "and their median, exactly");
	free(recv);
	free(subm);
}

/* 2 * limit + 1 is no number there. */
static void test_limits_of_halves(void)
{
	const int64_t entries[] = {-4, 6};
	const struct span span = {entries, NULL, 2};
	const struct layout_series halved = {.name = "half", .minus = -1, .only_where_recorded = -1, .divide = 2};
	struct err e = ERR_INIT;
	struct stats out;

	is_int(series_stats(&halved, &span, 1, 0, INT64_MIN, &out, &e), 0, "the least limit");
	is_int((long long)out.over_limit, 1, "all are above it");
	is_int(series_stats(&halved, &span, 1, 0, INT64_MAX, &out, &e), 0, "the greatest");
	is_int((long long)out.over_limit, 0, "none is");
}

int main(void)
{
	test_limits_of_halves();
	test_quantiles_are_exact();
	test_null_quantiles();
	test_lost();
	test_spread();
	test_overflow();
	test_small_jitter();
	test_memory_is_fixed();
	test_against_numpy();
	test_histograms();
	test_bad_histograms();
	test_flight();
	test_shared();
	test_deep_flight();
	return done_testing();
}
