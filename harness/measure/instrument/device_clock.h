/*
 * Converts stamps of a device's clock to the run's clock. A device counts ticks of its own, whose rate and origin are
 * not known. Both clocks are read before and after a measured interval, and stamps in between are interpolated
 * linearly. Pure, except for device_clock_read().
 *
 * The error has two parts: at most half of the time that each of the two readings took, which device_clock_error()
 * returns, and the clocks' deviation from linear drift.
 */
#ifndef KBLAT_INSTRUMENT_DEVICE_CLOCK_H
#define KBLAT_INSTRUMENT_DEVICE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* A reading of the device's clock, with the tick counter immediately before and after it. */
struct device_clock_reading {
	uint64_t device;
	int64_t before, after;
};

/* What is known about the device's counter. */
struct device_counter {
	uint64_t mask; /* its bits: it wraps around */
	uint64_t hz;   /* its ticks per second, about; 0: unknown */
};

struct device_clock {
	struct device_counter counter;
	struct device_clock_reading first, last;
};

/* Read both clocks several times with `read` (0, or a negative errno) and keep the reading that took the shortest
 * time. */
int device_clock_read(int (*read)(void *device, uint64_t *now), void *device, struct device_clock_reading *out);

/* Convert `stamp` to ticks of the run's clock. */
int64_t device_clock_ticks(const struct device_clock *c, uint64_t stamp);

/* The largest error of a converted stamp, in ticks, if the drift of both clocks is linear. */
int64_t device_clock_error(const struct device_clock *c);

/* May the counter have wrapped more than once between the two readings, which are `ns` apart? Then the stamps in between
 * mean nothing. */
bool device_clock_is_lost(const struct device_clock *c, int64_t ns);

/* A column of stamps, in place; entries that are `blank` stay. -ERANGE, and nothing is changed, if the device's clock
 * stood still between the two readings. */
int device_clock_convert(const struct device_clock *c, int64_t *column, uint64_t count, int64_t blank);

#endif
