/*
 * The expected outcome of a pacer's steps, computed independently of the kernel under test.
 */
#include "common/npy.h"
#include "transports/scripted_hot.h"

#define SECOND 1000000000

int64_t scripted_due(const struct scripted_settings *s, int64_t step)
{
	__int128 time = (__int128)(step + 1) * SECOND * (1000000 + s->schedule.tick_error_ppm);

	return (int64_t)(time / ((__int128)s->schedule.rate_hz * 1000000));
}

static bool is_stalled(const struct cpulist *stalls, int64_t step)
{
	return step < CPULIST_MAX && cpulist_has(stalls, (unsigned)step);
}

/* If the pacer is late and the next step is due as well, a step is missed; of the steps that are
 * due, the last or the first is submitted. */
void scripted_pace(const struct scripted_settings *s, int64_t *submission)
{
	const struct schedule *c = &s->schedule;
	int64_t now = 0, end = INT64_MAX;
	struct cpulist stalls;

	if (c->window_ns)
		end = (int64_t)((__int128)c->messages * SECOND / c->rate_hz) + c->window_ns;
	cpulist_parse(s->stall, &stalls, NULL, 0);
	for (int64_t i = 0; i < c->messages; i++)
		submission[i] = NEVER;
	for (int64_t i = 0; i < c->messages; i++) {
		if (scripted_due(s, i) > now)
			now = scripted_due(s, i) + (is_stalled(&stalls, i) ? s->stall_by : 0);
		const int64_t first = i;

		while (i < c->messages && scripted_due(s, i + 1) <= now)
			i++;
		if ((i == c->messages && !c->keeps_first) || now > end)
			return;
		submission[c->keeps_first ? first : i] = now;
	}
}

/* The source's virtual time when it waits: `until`, or later if that is the time of a step at which
 * it is delayed. */
int64_t scripted_wake(struct scripted *t, int64_t until)
{
	if (until <= t->now)
		return t->now;
	t->now = until;
	while (scripted_due(&t->s, t->step) < until)
		t->step++;
	if (scripted_due(&t->s, t->step) == until && is_stalled(t->stalls, t->step))
		t->now += t->s.stall_by;
	return t->now;
}

/* Everything posted has completed by now. */
int scripted_complete(struct scripted *t, uint32_t *seq)
{
	t->polled = t->posted;
	t->stamp = t->now;
	*seq = t->last;
	return 1;
}
