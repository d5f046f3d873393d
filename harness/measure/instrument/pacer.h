/*
 * Computes when the steps of a fixed rate are due, and waits for them. There are two kinds of pacer:
 *
 * A *grid* of ticks, for a thread that spins on the tick counter. Computing the next step's time takes one addition; it
 * has a fraction of 32 bits, so that rounding errors of the period do not accumulate at any rate. The counter's
 * frequency is the measured one (clock.h), never one from cpufreq.
 *
 * A *sleeper*, for a thread that sleeps. It uses either a periodic timerfd, which counts the steps that became due, or
 * clock_nanosleep() until the absolute time of each step. Both run on CLOCK_MONOTONIC. A step's time is converted to
 * ticks with a reading of both clocks at each wake-up, so that the drift between the clocks does not accumulate,
 * either.
 *
 * Steps are not caught up on: a step that was not taken before the next one is due is missed, as with a timerfd's count
 * of expirations.
 */
#ifndef KBLAT_INSTRUMENT_PACER_H
#define KBLAT_INSTRUMENT_PACER_H

#include <stdint.h>

#include "measure/instrument/clock.h"

struct err;

enum pacer { PACER_TICKS, PACER_TIMERFD, PACER_NANOSLEEP };

struct grid_of_ticks {
	int64_t due; /* of the next step */
	int64_t whole;
	uint32_t fraction, part; /* of `due`, and of the period */
};

/* The first step is due one period after `start`. `error_ppm`: how much higher than the true frequency the assumed one
 * is. */
void grid_start(struct grid_of_ticks *g, int64_t start, int64_t rate_hz, int64_t error_ppm,
		const struct clock_conversion *clock);

/* Returns the time of the next step and advances to the one after it. */
static inline int64_t grid_take(struct grid_of_ticks *g)
{
	int64_t due = g->due;
	uint64_t fraction = (uint64_t)g->fraction + g->part;

	g->fraction = (uint32_t)fraction;
	g->due += g->whole + (int64_t)(fraction >> 32);
	return due;
}

struct sleeper {
	enum pacer kind;
	int fd; /* timerfd */
	int64_t rate_hz, period_ns, start_ns;
	uint64_t next;		/* step */
	int64_t ticks, mono_ns; /* the moment of the last wake-up, on both clocks */
	struct clock_conversion clock;
};

/* Make the timer and start it: the first step is due one period from now. 0 or a negative errno; close in either case. */
int sleeper_open(struct sleeper *s, enum pacer kind, int64_t rate_hz, const struct clock_conversion *clock);

/* Sleep until the next step is due. Returns the number of steps that are due (at least 1; the last is the one to take),
 * or a negative errno (-EINTR: a signal arrived; no step is forgotten). */
int64_t sleeper_wait(struct sleeper *s);

/* When step k was or will be due, in ticks. */
int64_t sleeper_due(const struct sleeper *s, uint64_t step);
void sleeper_close(struct sleeper *s);

#endif
