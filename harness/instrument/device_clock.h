/*
 * Another clock's stamps on the run's clock: a device counts its own ticks, at a rate and from a start that nobody else
 * knows. Read both clocks before and after a measured interval; in between the device's runs straight, as far as one
 * can tell, so what it stamped is where the two readings put it. Pure, but for device_clock_read().
 *
 * The error is at most half the time that a reading took (each of the two), and what the clocks drifted off the straight
 * line; device_clock_error() tells the first.
 */
#ifndef KBLAT_INSTRUMENT_DEVICE_CLOCK_H
#define KBLAT_INSTRUMENT_DEVICE_CLOCK_H

#include <stdint.h>

/* The device's clock, and the tick counter right before and after it was read. */
struct device_clock_reading {
	uint64_t device;
	int64_t before, after;
};

struct device_clock {
	uint64_t mask; /* the bits that the device's counter has; it wraps around */
	struct device_clock_reading first, last;
};

/* Read both clocks several times with `read` (0, or a negative errno) and keep the closest reading. */
int device_clock_read(int (*read)(void *device, uint64_t *now), void *device, struct device_clock_reading *out);

/* When the device stamped `stamp`, in ticks of the run's clock. */
int64_t device_clock_ticks(const struct device_clock *c, uint64_t stamp);

/* In ticks: a stamp is off by no more than that, if both clocks run straight. */
int64_t device_clock_error(const struct device_clock *c);

/* A column of stamps, in place; entries that are `blank` stay. -ERANGE, and nothing is changed, if the device's clock
 * stood still between the two readings. */
int device_clock_convert(const struct device_clock *c, int64_t *column, uint64_t count, int64_t blank);

#endif
