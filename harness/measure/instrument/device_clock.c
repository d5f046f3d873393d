#include "measure/instrument/device_clock.h"

#include <errno.h>

#include "measure/instrument/clock.h"

#define TRIES	16
#define HZ_MOST 1000000000 /* of all known devices, which count nanoseconds or less */

int device_clock_read(int (*read)(void *device, uint64_t *now), void *device, struct device_clock_reading *out)
{
	for (int i = 0; i < TRIES; i++) {
		struct device_clock_reading r;
		int rc;

		r.before = clock_ticks_begin();
		rc = read(device, &r.device);
		r.after = clock_ticks_end();
		if (rc)
			return rc;
		if (i == 0 || r.after - r.before < out->after - out->before)
			*out = r;
	}
	return 0;
}

static int64_t middle(const struct device_clock_reading *r)
{
	return r->before + (r->after - r->before) / 2;
}

/* Device ticks from `a` to `b`, across a wrap. */
static uint64_t elapsed(const struct device_clock *c, uint64_t a, uint64_t b)
{
	return (b - a) & c->counter.mask;
}

int64_t device_clock_ticks(const struct device_clock *c, uint64_t stamp)
{
	uint64_t all = elapsed(c, c->first.device, c->last.device);
	int64_t span = middle(&c->last) - middle(&c->first);

	/* 128 bits, because both factors may have 48 bits. */
	return middle(&c->first) + (int64_t)((__int128)elapsed(c, c->first.device, stamp) * span / all);
}

int64_t device_clock_error(const struct device_clock *c)
{
	int64_t first = c->first.after - c->first.before, last = c->last.after - c->last.before;

	return (first > last ? first : last) / 2;
}

bool device_clock_is_lost(const struct device_clock *c, int64_t ns)
{
	const uint64_t hz = c->counter.hz ? c->counter.hz : HZ_MOST;

	return (double)ns * (double)hz / 1e9 >= (double)c->counter.mask;
}

int device_clock_convert(const struct device_clock *c, int64_t *column, uint64_t count, int64_t blank)
{
	if (!elapsed(c, c->first.device, c->last.device))
		return -ERANGE;
	for (uint64_t i = 0; i < count; i++)
		if (column[i] != blank)
			column[i] = device_clock_ticks(c, (uint64_t)column[i]);
	return 0;
}
