/*
 * What the loops of round trips have in common: making room for the next message, waiting for an
 * answer that may never arrive, or for other flows, and pausing after it.
 */
#ifndef KBLAT_KERNELS_ROUND_TRIP_H
#define KBLAT_KERNELS_ROUND_TRIP_H

#include "measure/instrument/waker.h"
#include "measure/kernels/backup.h"
#include "measure/kernels/loop.h"

/* Send completions are only counted; they are polled while there is nothing else to do. */
ALWAYS int round_trip_reap(struct TRANSPORT *t, uint32_t *done)
{
	uint32_t seq = 0;
	int rc = T(poll_send)(t, &seq);

	if (rc > 0)
		*done = seq + 1;
	return rc;
}

/* Does not poll before the next completion can be available. */
ALWAYS int round_trip_make_room(struct worker *w, struct TRANSPORT *t, uint32_t posted, uint32_t *done)
{
	uint32_t rounds = 0;
	int rc = posted - *done < w->signal_every ? 0 : round_trip_reap(t, done);

	while (rc >= 0 && posted - *done >= w->depth) {
		rc = round_trip_reap(t, done);
		if (rc == 0 && idle(w, &rounds, posted))
			return -EINTR;
	}
	return rc < 0 ? rc : 0;
}

/* Is the answer late by `lost_after`, so that the message or the answer is lost? A spinning thread
 * checks the time every now and then, a sleeping one whenever it has been woken up (see
 * round_trip_run()). */
ALWAYS bool round_trip_is_lost(struct TRANSPORT *t, const enum poll_mode mode, uint32_t rounds, int64_t deadline)
{
	return (mode != POLL_BUSY || rounds % IDLE_ROUNDS_TO_LOOK == 0) && T(pause)(t, deadline) >= deadline;
}

/* Wait for the answer to `seq`; answers to messages that were given up are ignored. 1: it is there,
 * 0: lost, or a negative errno. */
ALWAYS int round_trip_await_answer(struct worker *w, struct TRANSPORT *t, const enum poll_mode mode, uint32_t seq,
				   int64_t since, int64_t deadline)
{
	uint32_t rounds = 0, got = 0;

	for (;;) {
		int rc = T(poll_recv)(t, &got);

		if (likely(rc > 0)) {
			if (likely(got == seq))
				return 1;
			rc = T(release)(t);
			w->counters.reordered++;
		} else if (rc == 0) {
			rc = await_message(w, t, mode, &rounds, since, seq);
			if (rc == 0 && w->lossy && round_trip_is_lost(t, mode, rounds, deadline))
				return 0;
		}
		if (rc < 0)
			return rc;
	}
}

ALWAYS int round_trip_rest(struct worker *w, struct TRANSPORT *t, int64_t until, uint32_t progress)
{
	uint32_t rounds = 0;

	while (T(pause)(t, until) < until)
		if (idle(w, &rounds, progress))
			return -EINTR;
	return 0;
}

/* Often enough to detect a loss soon, but rarely enough not to influence the measurement. */
static inline int64_t round_trip_look_up_every(int64_t lost_after)
{
	const int64_t least = 1000000, most = 100000000, quarter = lost_after / 4;

	return quarter < least ? least : quarter > most ? most : quarter;
}

/* Run a loop that may sleep until a message arrives (`sleeps`). As this wait has no time limit, it
 * would never end if an answer is lost, so a timer interrupts it regularly. */
static inline int round_trip_run(struct worker *w, bool sleeps, int64_t lost_after, kernel_loop *run)
{
	struct waker waker;
	int rc;

	if (!w->lossy || !sleeps)
		return run(w);
	rc = waker_start(&waker, round_trip_look_up_every(lost_after));
	if (rc)
		return rc;
	rc = run(w);
	waker_stop(&waker);
	return rc;
}

/* Of a shared counter (measure/kernels/backup.h): spins or sleeps as the side polls for messages. 0, or -EINTR (stop). */
ALWAYS int shared_counter_await(struct worker *w, struct shared_counter *c, uint32_t wanted, uint64_t progress)
{
	uint32_t rounds = 0, seen;

	while ((seen = atomic_load_explicit(&c->count, memory_order_acquire)) != wanted) {
		const bool sleeps = w->poll_recv != POLL_BUSY;

		if ((sleeps || ++rounds % IDLE_ROUNDS_TO_LOOK == 0) && must_end(w, progress))
			return -EINTR;
		if (sleeps)
			shared_counter_sleep(c, seen);
		else
			cpu_relax();
	}
	return 0;
}

#endif
