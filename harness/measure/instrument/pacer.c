#include "measure/instrument/pacer.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "common/monotonic.h"

#define SECOND 1000000000

void grid_start(struct grid_of_ticks *g, int64_t start, int64_t rate_hz, int64_t error_ppm,
		const struct clock_conversion *clock)
{
	/* Ticks per period, times 2^32: (10^9 / rate) ns, times 2^shift / numerator ticks. */
	unsigned __int128 ticks_of_second = ((unsigned __int128)SECOND << clock->shift) / clock->numerator;
	unsigned __int128 rest = ((unsigned __int128)SECOND << clock->shift) % clock->numerator;
	unsigned __int128 scaled = (ticks_of_second << 32) + (rest << 32) / clock->numerator;
	unsigned __int128 period = scaled * (unsigned)(1000000 + error_ppm) / 1000000 / (uint64_t)rate_hz;

	*g = (struct grid_of_ticks){.due = start, .whole = (int64_t)(period >> 32), .part = (uint32_t)period};
	grid_take(g);
}

static struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){ns / SECOND, ns % SECOND};
}

/* The period of a timerfd is a whole number of nanoseconds; that of clock_nanosleep() is not rounded. */
static int64_t due_ns(const struct sleeper *s, uint64_t step)
{
	uint64_t count = step + 1;

	if (s->kind == PACER_TIMERFD)
		return s->start_ns + (int64_t)count * s->period_ns;
	return s->start_ns + (int64_t)((unsigned __int128)count * SECOND / (uint64_t)s->rate_hz);
}

int sleeper_open(struct sleeper *s, enum pacer kind, int64_t rate_hz, const struct clock_conversion *clock)
{
	struct itimerspec timer;

	*s = (struct sleeper){.kind = kind, .fd = -1, .rate_hz = rate_hz, .clock = *clock};
	s->period_ns = (SECOND + rate_hz / 2) / rate_hz;
	if (kind == PACER_TIMERFD) {
		s->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
		if (s->fd < 0)
			return -errno;
	}
	s->start_ns = monotonic_ns();
	timer.it_interval = timespec_of(s->period_ns);
	timer.it_value = timespec_of(due_ns(s, 0));
	if (kind == PACER_TIMERFD && timerfd_settime(s->fd, TFD_TIMER_ABSTIME, &timer, NULL))
		return -errno;
	return 0;
}

static int64_t wait_timer(struct sleeper *s)
{
	uint64_t expirations;

	if (read(s->fd, &expirations, sizeof(expirations)) != sizeof(expirations))
		return -errno;
	return (int64_t)expirations;
}

static int64_t wait_time(struct sleeper *s)
{
	struct timespec until = timespec_of(due_ns(s, s->next));

	return -clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* The number of steps that are due at `now`, including the next one. */
static int64_t count_due(const struct sleeper *s, int64_t now)
{
	int64_t steps = 1;

	while (due_ns(s, s->next + (uint64_t)steps) <= now)
		steps++;
	return steps;
}

/* Read both clocks at the same moment; repeat if something happened between the readings. */
static void read_both(struct sleeper *s)
{
	const int64_t close = clock_from_ns(&s->clock, 1000);

	for (int tries = 0; tries < 8; tries++) {
		s->ticks = clock_ticks_begin();
		s->mono_ns = monotonic_ns();
		if (clock_ticks_end() - s->ticks < close)
			return;
	}
}

int64_t sleeper_wait(struct sleeper *s)
{
	int64_t steps = s->kind == PACER_TIMERFD ? wait_timer(s) : wait_time(s);

	if (steps < 0)
		return steps;
	read_both(s);
	if (s->kind != PACER_TIMERFD)
		steps = count_due(s, s->mono_ns);
	s->next += (uint64_t)steps;
	return steps;
}

int64_t sleeper_due(const struct sleeper *s, uint64_t step)
{
	return s->ticks - clock_from_ns(&s->clock, s->mono_ns - due_ns(s, step));
}

void sleeper_close(struct sleeper *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}
