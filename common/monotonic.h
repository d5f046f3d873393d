/*
 * The time since boot, as CLOCK_MONOTONIC tells it: for deadlines and durations, not for stamps of messages
 * (measure/instrument/clock.h).
 */
#ifndef KBLAT_COMMON_MONOTONIC_H
#define KBLAT_COMMON_MONOTONIC_H

#include <stdint.h>
#include <time.h>

static inline int64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t monotonic_ms(void)
{
	return monotonic_ns() / 1000000;
}

#endif
