/*
 * Posting in `handoff`: a side's user posts messages, its messenger acknowledgements. Only for
 * handoff_loop.c.
 */
#ifndef KBLAT_KERNELS_HANDOFF_POST_H
#define KBLAT_KERNELS_HANDOFF_POST_H

#include <sched.h>
#include <string.h>

#include "kernels/handoff.h"
#include "kernels/loop.h"

/* Choices made at set-up, constant in each instance of a user's loop. The two lowest bits are the
 * kind of hand-over. */
enum { HANDOFF_ACKS = 4, HANDOFF_COPIES = 8, HANDOFF_WAKES = 16 /* the other side may sleep */ };

#define HANDOFF_HAND(choices) ((enum handoff_hand)((choices)&3))

static size_t handoff_payload(const struct worker *w)
{
	const struct handoff_settings *s = w->settings;

	return (size_t)s->size - w->transport->overhead;
}

/* If messages are acknowledged, both threads of a side post. If both are real-time threads on the
 * same CPU, one that spins would keep the other from ever releasing the lock, so it yields; at once
 * if both have the same CPU anyway. */
ALWAYS void handoff_lock(struct handoff_side *side, const enum handoff_hand hand)
{
	uint32_t rounds = 0;

	while (!likely(!atomic_flag_test_and_set_explicit(&side->posting, memory_order_acquire)))
		if (hand == HANDOFF_YIELD)
			sched_yield();
		else if (++rounds % IDLE_ROUNDS_TO_LOOK)
			cpu_relax();
		else
			sched_yield();
}

ALWAYS void handoff_unlock(struct handoff_side *side)
{
	atomic_flag_clear_explicit(&side->posting, memory_order_release);
}

ALWAYS bool handoff_shares_posting(const unsigned choices)
{
	return choices & HANDOFF_ACKS && HANDOFF_HAND(choices) != HANDOFF_DIRECT;
}

/* Every n-th post, including acknowledgements, requests a completion. */
ALWAYS bool handoff_wants_signal(struct worker *w, struct handoff_side *side)
{
	side->posted++;
	if (++side->until_signal < w->signal_every)
		return false;
	side->until_signal = 0;
	return true;
}

ALWAYS int handoff_post(struct worker *w, struct TRANSPORT *t, uint32_t seq, const unsigned choices)
{
	struct handoff_side *side = w->side;
	int rc;

	if (choices & HANDOFF_COPIES)
		memcpy(T(send_buffer)(t, seq), side->out.data, handoff_payload(w));
	if (handoff_shares_posting(choices))
		handoff_lock(side, HANDOFF_HAND(choices));
	rc = T(post)(t, seq, handoff_wants_signal(w, side));
	if (handoff_shares_posting(choices))
		handoff_unlock(side);
	if (choices & HANDOFF_WAKES)
		T(wake_recv)(t);
	return rc;
}

/* Called while it is the other side's turn. A completion stands for `signal_every` posts. */
ALWAYS int handoff_reap(struct worker *w, struct TRANSPORT *t, struct handoff_side *side)
{
	uint32_t seq;
	int rc = 1;

	if (t->base.ops->completes_in_post)
		side->done = side->posted;
	while (rc > 0 && side->posted - side->done >= w->signal_every) {
		rc = T(poll_send)(t, &seq);
		if (rc > 0)
			side->done += w->signal_every;
	}
	return rc < 0 ? rc : 0;
}

/* Makes room for a message and an acknowledgement. */
ALWAYS int handoff_make_room(struct worker *w, struct TRANSPORT *t, uint32_t progress, const unsigned choices)
{
	struct handoff_side *side = w->side;
	const uint32_t room = choices & HANDOFF_ACKS ? 2 : 1;
	uint32_t rounds = 0;
	bool is_full;
	int rc;

	do {
		if (handoff_shares_posting(choices))
			handoff_lock(side, HANDOFF_HAND(choices));
		rc = handoff_reap(w, t, side);
		is_full = side->posted - side->done + room > w->depth;
		if (handoff_shares_posting(choices))
			handoff_unlock(side);
	} while (!rc && is_full && !(rc = idle(w, &rounds, progress) ? -EINTR : 0));
	return rc;
}

/* To be called by the thread that has received message seq. */
ALWAYS int handoff_acknowledge(struct worker *w, struct TRANSPORT *t, uint32_t seq, const enum handoff_hand hand)
{
	const bool shared = hand != HANDOFF_DIRECT;
	struct handoff_side *side = w->side;
	int rc;

	if (shared)
		handoff_lock(side, hand);
	rc = T(post_empty)(t, seq | HANDOFF_ACK, handoff_wants_signal(w, side));
	if (shared)
		handoff_unlock(side);
	if (w->poll_recv != POLL_BUSY)
		T(wake_recv)(t);
	return rc;
}

#endif
