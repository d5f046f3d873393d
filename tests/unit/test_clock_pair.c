/* Simulated pairs of clocks: the truth is known, and what is said of it must contain it. */
#include "measure/run/clock_link.h"

#include <math.h>
#include <stdlib.h>

#include "common/npy.h"
#include "common/random.h"
#include "tap.h"

#define PAIRS	    400
#define COMPARISONS 6
#define EXCHANGES   60

static uint64_t seed;

/* Uniform in [0, 1). */
static double draw(void)
{
	return (double)random_below(&seed, UINT64_C(1) << 53) * 0x1p-53;
}

static double exponential(double mean)
{
	return -mean * log(1 - draw());
}

/* The far clock at a time of the near one, which is true time here. */
struct simulated {
	double offset_ns, drift;
	double wander, wander_ns; /* its rate, to and fro, by so much, with this period */
	double least_there, least_back, queue_there, queue_back, turn;
	double step_at, step;
};

static double ahead(const struct simulated *s, double t)
{
	double wander = s->wander * s->wander_ns / (2 * M_PI) * (1 - cos(2 * M_PI * t / s->wander_ns));

	return s->offset_ns + s->drift * t + wander + (s->step && t >= s->step_at ? s->step : 0);
}

static struct simulated draw_pair(void)
{
	return (struct simulated){
	    .offset_ns = (draw() - 0.5) * 10e9,
	    .drift = (draw() - 0.5) * 200e-6,
	    .wander = draw() * 20e-9,
	    .wander_ns = 10e9 + draw() * 100e9,
	    .least_there = 500 + draw() * 20000,
	    .least_back = 500 + draw() * 20000,
	    .queue_there = draw() * 100000,
	    .queue_back = draw() * 10000,
	    .turn = 20 + draw() * 2000,
	};
}

static struct clock_exchange round_trip(const struct simulated *s, double sent)
{
	const double received = sent + s->least_there + exponential(s->queue_there);
	const double answered = received + s->turn, returned = answered + s->least_back + exponential(s->queue_back);

	return (struct clock_exchange){(int64_t)floor(sent), (int64_t)floor(received + ahead(s, received)),
				       (int64_t)floor(answered + ahead(s, answered)), (int64_t)floor(returned)};
}

/* Comparisons a second or so apart. */
static size_t compare_all(const struct simulated *s, struct clock_comparison *c)
{
	struct clock_exchange exchanges[EXCHANGES];
	double t = 1e9 * draw();
	size_t found = 0;

	for (size_t i = 0; i < COMPARISONS; i++) {
		for (size_t k = 0; k < EXCHANGES; k++) {
			exchanges[k] = round_trip(s, t);
			t = (double)exchanges[k].returned + 100;
		}
		found += clock_pair_compare(exchanges, EXCHANGES, &c[found]);
		t += 0.2e9 + draw() * 3e9;
	}
	return found;
}

/* The largest error, as a share of the bound, over the whole time. */
static double worst_share(const struct simulated *s, const struct clock_comparison *c, size_t count)
{
	const struct clock_line line = clock_pair_fit(c, count);
	double worst = 0;

	for (int i = 0; i <= 1000; i++) {
		const double t = (double)c[0].at_ns + (double)(c[count - 1].at_ns - c[0].at_ns) * (double)i / 1000;
		const double truth = ahead(s, t);
		const int64_t said = clock_pair_offset(c, count, (int64_t)(t + truth));

		worst = fmax(worst, fabs((double)said - truth) / (double)line.error_ns);
	}
	return worst;
}

static void test_pairs(void)
{
	struct clock_comparison c[COMPARISONS];
	unsigned contained = 0, stepped = 0, whole = 0;
	double worst = 0, off_ppb = 0;

	for (seed = 1; seed <= PAIRS; seed++) {
		const uint64_t at = seed;
		const struct simulated s = draw_pair();
		const size_t count = compare_all(&s, c);
		const struct clock_line line = clock_pair_fit(c, count);
		const double share = worst_share(&s, c, count);

		whole += count == COMPARISONS;
		contained += share <= 1;
		stepped += line.has_stepped;
		worst = fmax(worst, share);
		off_ppb = fmax(off_ppb, fabs(line.drift_ppb - s.drift * 1e9) / (double)line.error_ns);
		seed = at;
	}
	printf("# worst error: %.2f of the bound; drift off by %.2f ppb for each ns of error\n", worst, off_ppb);
	ok(whole == PAIRS, "every comparison finds a round trip");
	ok(contained == PAIRS, "the bound contains the truth, for %u of %d pairs of clocks", contained, PAIRS);
	ok(stepped == 0, "none of them is taken for one that stepped (%u)", stepped);
	ok(off_ppb < 2, "the drift is that of the clocks");
}

/* A delay that is there all the time, in one direction: no exchange tells it from an offset. */
static void test_standing_delay(void)
{
	struct clock_comparison c[COMPARISONS];
	unsigned contained = 0;
	double shift = 0;

	for (seed = 1; seed <= 100; seed++) {
		const uint64_t at = seed;
		struct simulated s = draw_pair();
		size_t count;

		s.least_there = s.least_back = 1000;
		s.queue_there = s.queue_back = 0;
		s.least_there += 300000;
		count = compare_all(&s, c);
		contained += worst_share(&s, c, count) <= 1;
		shift += ((double)c[0].offset_ns - ahead(&s, (double)c[0].at_ns)) / 100;
		seed = at;
	}
	ok(contained == 100, "a standing delay of 300 us one way: the truth is within the bound (%u of 100)",
	   contained);
	ok(fabs(shift - 150000) < 2000, "half of the delay is taken for an offset (%.0f ns)", shift);
}

static void test_steps(void)
{
	static const double steps[] = {100e3, -100e3, 1e6, -1e9};
	struct clock_comparison c[COMPARISONS];
	unsigned found = 0, all = 0;

	for (size_t k = 0; k < sizeof(steps) / sizeof(steps[0]); k++)
		for (seed = 1; seed <= 50; seed++, all++) {
			const uint64_t at = seed;
			struct simulated s = draw_pair();

			s.least_there = s.least_back = 1000;
			s.queue_there = s.queue_back = 2000;
			const uint64_t same = seed;

			compare_all(&s, c);
			seed = same;
			s.step = steps[k];
			s.step_at = (double)(c[2].at_ns + c[3].at_ns) / 2;
			found += clock_pair_fit(c, compare_all(&s, c)).has_stepped;
			seed = at;
		}
	ok(found == all, "a clock that steps by 100 us and more is found (%u of %u)", found, all);
}

static void test_few(void)
{
	const struct clock_exchange lost[] = {{0, NEVER, NEVER, NEVER}, {100, 1000, 1010, NEVER}};
	const struct clock_exchange wrong[] = {{0, 1000, 3000, 100}, {1000, 6100, 6110, 1220}};
	struct clock_comparison c;

	ok(!clock_pair_compare(lost, 2, &c), "round trips without an answer say nothing");
	ok(clock_pair_compare(wrong, 2, &c), "one whose stamps contradict each other is left out");
	is_int(c.offset_ns, 4995, "the middle of what is possible");
	is_int(c.error_ns, 107, "half the round trip without the turn, and the stamps' rounding");
	is_int(clock_pair_offset(&c, 1, 123456789), 4995, "one comparison: it is taken to stay");

	const struct clock_line line = clock_pair_fit(&c, 1);

	is_int(line.error_ns, 107, "its own bound");
	ok(!line.has_stepped && line.drift_ppb == 0, "and no drift");
}

/* What another host sends may be anything. */
static void test_no_times(void)
{
	const struct clock_exchange far[] = {{INT64_MIN + 1, INT64_MAX, INT64_MIN + 1, INT64_MAX},
					     {0, INT64_MAX, INT64_MAX, 1},
					     {0, CLOCK_PAIR_FURTHEST_NS, CLOCK_PAIR_FURTHEST_NS, 1},
					     {100, 1000, 1010, 130}};
	const struct clock_comparison steep[] = {{0, 0, 1}, {1, 1LL << 52, 1}};
	struct clock_comparison found;

	ok(!clock_pair_compare(far, 3, &found), "stamps that cannot be are no comparison");
	ok(clock_pair_compare(far, 4, &found) && found.at_ns == 115, "and do not spoil that of others");
	ok(clock_pair_is_time(-1) && !clock_pair_is_time(INT64_MIN), "NEVER is no time");
	ok(clock_pair_offset(steep, 2, CLOCK_PAIR_FURTHEST_NS - 1) <= CLOCK_PAIR_FURTHEST_NS,
	   "a slope leads no further than times do");
}

int main(void)
{
	test_pairs();
	test_standing_delay();
	test_steps();
	test_few();
	test_no_times();
	return done_testing();
}
