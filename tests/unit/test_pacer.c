/* When steps are due: a grid of ticks that nothing adds up in, and timers whose steps are counted by the kernel. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "measure/instrument/pacer.h"
#include "measure/kernels/sample.h"
#include "tap.h"

#define STEPS 3000000

/* A counter of 2.4 GHz. */
static const struct clock_conversion fast = {1000, (UINT64_C(1) << 40) * 10 / 24, 40};
static const struct clock_conversion plain = {0, 1, 0};

static int64_t exact(const struct clock_conversion *c, int64_t start, int64_t rate, int64_t step)
{
	__int128 ns_times_rate = (__int128)(step + 1) * 1000000000;

	return start + (int64_t)((ns_times_rate << c->shift) / ((__int128)c->numerator * rate));
}

static void check_grid(const struct clock_conversion *c, int64_t rate, const char *what)
{
	const int64_t start = 123456789012345;
	struct grid_of_ticks g;
	int64_t worst = 0;

	grid_start(&g, start, rate, 0, c);
	for (int64_t i = 0; i < STEPS; i++) {
		int64_t off = grid_take(&g) - exact(c, start, rate, i);

		off = off < 0 ? -off : off;
		worst = off > worst ? off : worst;
	}
	ok(worst <= 1, "%s: no step of %d is more than a tick off (%lld)", what, STEPS, (long long)worst);
}

static void check_error(void)
{
	struct grid_of_ticks g;
	int64_t last = 0;

	grid_start(&g, 0, 10000, 88235, &plain);
	for (int i = 0; i < 10000; i++)
		last = grid_take(&g);
	ok(last >= 1088234999 && last <= 1088235000,
	   "8.8235 %% too many ticks a second make steps as much longer (%lld)", (long long)last);
}

static void check_sample(void)
{
	char buffer[SAMPLE_HEADER + 8 * 8] __attribute__((aligned(8)));
	struct sample *s = (struct sample *)buffer;
	uint64_t random = 1, sequence;
	int64_t origin;
	uint32_t count;
	double value;
	bool in_range = true;

	is_int(sample_size(8), 88, "8 values make 88 bytes");
	is_int(sample_size(1), 32, "1 value makes 32");
	sample_fill(s, 8, &random);
	sample_head(s, 4711, -5, 8);
	memcpy(&sequence, buffer, 8);
	memcpy(&origin, buffer + 8, 8);
	memcpy(&count, buffer + 16, 4);
	is_int((long long)sequence, 4711, "the sequence number is at 0");
	is_int(origin, -5, "the origin time is at 8");
	is_int(count, 8, "the number of values is at 16");
	for (int i = 0; i < 8; i++) {
		memcpy(&value, buffer + 24 + 8 * i, 8);
		in_range &= value >= 1 && value < 2;
	}
	ok(in_range, "values are doubles from 24 on");
	payload_fill(sample_values(s), 64, 4711);
	ok(sample_is_right(s, 4711, 8), "a whole sample is right");
	ok(!sample_is_right(s, 4712, 8), "one of another number is not");
	((char *)sample_values(s))[63] ^= 1;
	ok(!sample_is_right(s, 4711, 8), "one with a changed byte is not");
}

static void nap(int64_t ns)
{
	struct timespec ts = {ns / 1000000000, ns % 1000000000};

	nanosleep(&ts, NULL);
}

/* However long the machine lets us wait: steps add up to the time that passed, and none is due in the future. */
static void check_sleeper(enum pacer kind, const char *name)
{
	struct clock_report report;
	struct clock_conversion c;
	struct sleeper s;
	int64_t steps = 0, one = 0, many;
	bool never_early = true;

	clock_calibrate(20, &report);
	c = clock_conversion_from(clock_ticks_begin(), report.hz);
	is_int(sleeper_open(&s, kind, 1000, &c), 0, "%s: opens", name);
	for (int i = 0; i < 20; i++) {
		one = sleeper_wait(&s);
		steps += one;
		/* The clocks' fit may be off by some nanoseconds over a few milliseconds. */
		never_early &= one >= 1 && s.ticks - sleeper_due(&s, (uint64_t)steps - 1) >= -1000;
	}
	ok(never_early, "%s: nobody wakes up before the time", name);
	nap(10500000);
	many = sleeper_wait(&s);
	ok(many >= 10, "%s: after 10.5 periods at least 10 steps are due (%lld)", name, (long long)many);
	steps += many;
	ok(steps <= (s.mono_ns - s.start_ns) / 1000000, "%s: no more steps than time has passed", name);
	if (kind == PACER_NANOSLEEP) /* it counts at the moment of s.mono_ns; the kernel counts for a timer, earlier */
		is_int(steps, (s.mono_ns - s.start_ns) / 1000000, "%s: and no fewer", name);
	many =
	    clock_to_ns(&c, sleeper_due(&s, (uint64_t)steps)) - clock_to_ns(&c, sleeper_due(&s, (uint64_t)steps - 10));
	ok(llabs(many - 10000000) <= 2, "%s: ten steps are ten periods apart (%lld ns)", name, (long long)many);
	sleeper_close(&s);
}

static void on_signal(int number)
{
	(void)number;
}

static pthread_t sleeping;
static atomic_bool enough;

/* Again and again: one could come before the wait. */
static void *interrupt(void *unused)
{
	while (!atomic_load(&enough)) {
		nap(5000000);
		pthread_kill(sleeping, SIGUSR1);
	}
	return unused;
}

static void check_interruption(enum pacer kind, const char *name)
{
	struct sigaction action = {.sa_handler = on_signal};
	pthread_t other;
	struct sleeper s;
	int64_t before = 0, steps;

	sigaction(SIGUSR1, &action, NULL);
	is_int(sleeper_open(&s, kind, 1, &plain), 0, "%s: opens with a second's period", name);
	sleeping = pthread_self();
	atomic_store(&enough, false);
	pthread_create(&other, NULL, interrupt, NULL);
	while ((steps = sleeper_wait(&s)) > 0)
		before += steps;
	is_int(steps, -EINTR, "%s: a signal ends the wait", name);
	atomic_store(&enough, true);
	pthread_join(other, NULL);
	while ((steps = sleeper_wait(&s)) == -EINTR)
		;
	is_int((long long)s.next, before + steps, "%s: and no step is forgotten", name);
	sleeper_close(&s);
}

int main(void)
{
	check_grid(&plain, 100000, "100 kHz, ticks of 1 ns");
	check_grid(&plain, 3000, "3 kHz, ticks of 1 ns");
	check_grid(&fast, 7, "7 Hz, 2.4 GHz");
	check_grid(&fast, 999983, "999983 Hz, 2.4 GHz");
	check_error();
	check_sample();
	check_sleeper(PACER_TIMERFD, "timerfd");
	check_sleeper(PACER_NANOSLEEP, "nanosleep");
	check_interruption(PACER_TIMERFD, "timerfd");
	check_interruption(PACER_NANOSLEEP, "nanosleep");
	return done_testing();
}
