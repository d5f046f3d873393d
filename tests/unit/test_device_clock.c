/* A made-up device whose clock's rate, start and width are known: its stamps must come out where they were made. */
#include "measure/instrument/device_clock.h"

#include <errno.h>
#include <stdlib.h>

#include "common/npy.h"
#include "measure/instrument/clock.h"
#include "tap.h"

/* A counter of `bits` that is at `start` at host tick 0 and counts `rate` a host tick. */
struct device {
	double rate;
	uint64_t start;
	unsigned bits;
};

static uint64_t mask_of(const struct device *d)
{
	return d->bits == 64 ? UINT64_MAX : (1ULL << d->bits) - 1;
}

static uint64_t at(const struct device *d, int64_t tick)
{
	return (d->start + (uint64_t)((double)tick * d->rate)) & mask_of(d);
}

static struct device_clock_reading reading(const struct device *d, int64_t tick, int64_t half)
{
	return (struct device_clock_reading){at(d, tick), tick - half, tick + half};
}

static void test_truth(const char *what, struct device d, int64_t from, int64_t to, int64_t within)
{
	struct device_clock c = {{mask_of(&d), 0}, reading(&d, from, 100), reading(&d, to, 400)};
	int64_t worst = 0;

	for (int64_t i = 0; i <= 1000; i++) {
		int64_t tick = from + (to - from) / 1000 * i;
		int64_t off = llabs(device_clock_ticks(&c, at(&d, tick)) - tick);

		worst = off > worst ? off : worst;
	}
	ok(worst <= within, "%s: off by %lld ticks at most", what, (long long)worst);
	is_int(device_clock_error(&c), 400, "%s: half of the longer reading bounds it", what);
}

/* The readings themselves are off, each within its bracket: no stamp is off by more than the bound. */
static void test_bound(void)
{
	struct device d = {.rate = 0.0625, .start = 1 << 20, .bits = 48};
	struct device_clock c = {{mask_of(&d), 0}, reading(&d, 0, 0), reading(&d, 3000000, 0)};
	int64_t worst = 0;

	c.first.before -= 1000;
	c.last.after += 1600;
	for (int64_t tick = 0; tick <= 3000000; tick += 1600) {
		int64_t off = llabs(device_clock_ticks(&c, at(&d, tick)) - tick);

		worst = off > worst ? off : worst;
	}
	is_int(device_clock_error(&c), 800, "the bound");
	ok(worst <= 800 + 16 && worst >= 700, "off by %lld, not more than the bound and one tick of the device",
	   (long long)worst);
}

static void test_column(void)
{
	struct device d = {.rate = 2, .start = 0xfffffff0, .bits = 32};
	struct device_clock c = {{mask_of(&d), 0}, reading(&d, 0, 0), reading(&d, 1000, 0)}, still = c;
	int64_t column[] = {(int64_t)at(&d, 7), NEVER, (int64_t)at(&d, 500)};

	is_int(device_clock_convert(&c, column, 3, NEVER), 0, "a column is converted");
	ok(column[0] == 7 && column[1] == NEVER && column[2] == 500, "and what never happened stays so");
	still.last.device = still.first.device;
	is_int(device_clock_convert(&still, column, 3, NEVER), -ERANGE, "a clock that stands still is no clock");
	is_int(column[0], 7, "and converts nothing");
}

/* 32 bits at 156.25 MHz last 27.49 s; what does not say its rate may have 1 GHz, and 4.29 s. */
static void test_lost(void)
{
	struct device_clock c = {.counter = {UINT32_MAX, 156250000}};

	ok(!device_clock_is_lost(&c, 27400000000) && device_clock_is_lost(&c, 27500000000),
	   "a counter that has gone round is not believed");
	c.counter.hz = 0;
	ok(!device_clock_is_lost(&c, 4290000000) && device_clock_is_lost(&c, 4300000000),
	   "one of an unknown rate may be the fastest");
	c.counter.mask = UINT64_MAX;
	ok(!device_clock_is_lost(&c, INT64_MAX), "64 bits last for ever");
}

struct slow {
	unsigned calls, fail_at;
};

/* The third time is the quick one. */
static int read_slow(void *device, uint64_t *now)
{
	struct slow *s = device;

	if (++s->calls == s->fail_at)
		return -EOPNOTSUPP;
	*now = s->calls;
	for (int64_t until = clock_ticks_begin() + (s->calls == 3 ? 0 : 200000); clock_ticks_begin() < until;)
		;
	return 0;
}

static void test_read(void)
{
	struct slow s = {0, 0}, failing = {0, 2};
	struct device_clock_reading r;

	is_int(device_clock_read(read_slow, &s, &r), 0, "a clock is read");
	is_int((long long)r.device, 3, "and the closest reading is kept");
	ok(r.after - r.before < 200000 && r.after > r.before, "with what it took");
	is_int(device_clock_read(read_slow, &failing, &r), -EOPNOTSUPP, "what cannot be read is said");
}

int main(void)
{
	/* 156.25 MHz beside 2.5 GHz, 48 bits: mlx5's. A device tick is 16 host ticks long. */
	test_truth("a slower clock", (struct device){0.0625, 123456789, 48}, 1000000, 5000000000, 32);
	test_truth("a clock that wraps", (struct device){0.0625, (1ULL << 48) - 1000, 48}, 0, 2500000000, 32);
	test_truth("32 bits", (struct device){0.4, 0xffff0000, 32}, 0, 2000000000, 6);
	test_truth("64 bits", (struct device){1.5, UINT64_MAX - 5, 64}, 0, 1000000000, 2);
	test_bound();
	test_column();
	test_lost();
	test_read();
	return done_testing();
}
