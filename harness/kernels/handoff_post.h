/*
 * How a side of `handoff` posts: its user messages, its messenger acknowledgements. For handoff_loop.c alone.
 */
#ifndef KBLAT_KERNELS_HANDOFF_POST_H
#define KBLAT_KERNELS_HANDOFF_POST_H

#include <sched.h>
#include <string.h>

#include "kernels/handoff.h"
#include "kernels/loop.h"

/* Set-up choices, constant in each instance of a user's loop. The two low bits are the hand-over. */
enum { HANDOFF_ACKS = 4, HANDOFF_COPIES = 8, HANDOFF_CHECKS = 16, HANDOFF_WAKES = 32 /* the other side may sleep */ };

#define HANDOFF_HAND(choices) ((enum handoff_hand)((choices)&3))

static size_t handoff_payload(const struct worker *w)
{
	const struct handoff_settings *s = w->settings;

	return (size_t)s->size - w->transport->overhead;
}

/* Both threads of a side post where messages are acknowledged. Of threads of a real-time class on one CPU, one that spins
 * would keep the other from ever letting go: so it gives way. */
ALWAYS void handoff_lock(struct handoff_side *side)
{
	uint32_t rounds = 0;

	while (!likely(!atomic_flag_test_and_set_explicit(&side->posting, memory_order_acquire)))
		if (++rounds % IDLE_ROUNDS_TO_LOOK)
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

/* Of all that is posted, acknowledgements too, every n-th asks for its completion. */
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
		handoff_lock(side);
	rc = T(post)(t, seq, handoff_wants_signal(w, side));
	if (handoff_shares_posting(choices))
		handoff_unlock(side);
	if (choices & HANDOFF_WAKES)
		T(wake_recv)(t);
	return rc;
}

/* Called while the other side has its turn. A request's completion stands for `signal_every` posts. */
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

/* A message and an acknowledgement must have room. */
ALWAYS int handoff_make_room(struct worker *w, struct TRANSPORT *t, uint32_t progress, const unsigned choices)
{
	struct handoff_side *side = w->side;
	const uint32_t room = choices & HANDOFF_ACKS ? 2 : 1;
	uint32_t rounds = 0;
	bool is_full;
	int rc;

	do {
		if (handoff_shares_posting(choices))
			handoff_lock(side);
		rc = handoff_reap(w, t, side);
		is_full = side->posted - side->done + room > w->depth;
		if (handoff_shares_posting(choices))
			handoff_unlock(side);
	} while (!rc && is_full && !(rc = idle(w, &rounds, progress) ? -EINTR : 0));
	return rc;
}

/* Whoever receives message seq says so. */
ALWAYS int handoff_acknowledge(struct worker *w, struct TRANSPORT *t, uint32_t seq, const bool shared)
{
	struct handoff_side *side = w->side;
	int rc;

	if (shared)
		handoff_lock(side);
	rc = T(post_empty)(t, seq | HANDOFF_ACK, handoff_wants_signal(w, side));
	if (shared)
		handoff_unlock(side);
	if (w->poll_recv != POLL_BUSY)
		T(wake_recv)(t);
	return rc;
}

#endif
