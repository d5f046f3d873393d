/*
 * When the steps of a fixed rate are due, and waiting for them. Two kinds of pacer:
 *
 * A *grid* of ticks, for a thread that spins on the tick counter: the next step's time is one addition away, with a fraction of 32 bits, so that no
 * rounding of the period adds up (25 kHz or 3 kHz alike). The counter's frequency is the measured one (clock.h), never one from cpufreq.
 *
 * A *sleeper*, for a thread that sleeps: a periodic timerfd, which counts the steps that came due by itself, or clock_nanosleep() until each step's
 * absolute time. Both run on CLOCK_MONOTONIC; a step's time in ticks is taken against a reading of both clocks at the moment of waking up, so
 * that the slewing of one against the other does not add up either.
 *
 * No step is made up for: one that was not taken before the next is due is missed, as with a timerfd's count of expirations.
 */
#ifndef KBLAT_INSTRUMENT_PACER_H
#define KBLAT_INSTRUMENT_PACER_H

#include <stdint.h>

#include "instrument/clock.h"

struct err;

enum pacer { PACER_TICKS, PACER_TIMERFD, PACER_NANOSLEEP };

struct grid_of_ticks {
	int64_t due; /* of the next step */
	int64_t whole;
	uint32_t fraction, part; /* of `due`, and of the period */
};

/* The first step is due one period after `start`. `error_ppm`: by so much the frequency is taken to be higher than it is. */
void grid_start(struct grid_of_ticks *g, int64_t start, int64_t rate_hz, int64_t error_ppm,
		const struct clock_conversion *clock);

/* The time of the next step; then the one after it is the next. */
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
	int64_t ticks, mono_ns; /* one moment on both clocks: the last waking */
	struct clock_conversion clock;
};

/* Make the timer and start it: the first step is due one period from now. 0 or a negative errno; close in either case. */
int sleeper_open(struct sleeper *s, enum pacer kind, int64_t rate_hz, const struct clock_conversion *clock);

/* Sleep until the next step is due. The number of steps that are due by then (at least 1; the last is the one to take), or a negative errno
 * (-EINTR: a signal came; nothing is forgotten). */
int64_t sleeper_wait(struct sleeper *s);

/* When step k was or will be due, in ticks. */
int64_t sleeper_due(const struct sleeper *s, uint64_t step);
void sleeper_close(struct sleeper *s);

#endif
