/*
 * How a user of `handoff` waits for a message or an acknowledgement: for its messenger to hand it
 * over, or by receiving itself. Only for handoff_loop.c.
 */
#ifndef KBLAT_KERNELS_HANDOFF_WAIT_H
#define KBLAT_KERNELS_HANDOFF_WAIT_H

#include <string.h>

#include "kernels/handoff_post.h"

/* --- waiting for a messenger --- */

struct handoff_wait {
	int64_t deadline; /* in ticks; for messages that may get lost */
	uint32_t progress;
};

ALWAYS bool handoff_is_late(struct worker *w, struct TRANSPORT *t, const struct handoff_wait *wait)
{
	return w->lossy && T(pause)(t, wait->deadline) >= wait->deadline;
}

ALWAYS int handoff_nap(struct worker *w, struct handover *h, const struct handoff_wait *wait)
{
	const struct handoff_settings *s = w->settings;

	if (must_end(w, wait->progress))
		return -EINTR;
	return unless_stopped(w, handover_sleep(h, w->lossy ? s->lost_after : 0));
}

/* Between two looks at the shared variable. A user that shares its messenger's CPU lets that run. */
ALWAYS void handoff_relax(const enum handoff_hand hand)
{
	if (hand == HANDOFF_YIELD)
		sched_yield();
	else
		cpu_relax();
}

/* 1: it is there; 0: the deadline has passed; or a negative errno. */
ALWAYS int handoff_take(struct worker *w, struct TRANSPORT *t, struct handover *h, const struct handoff_wait *wait,
			uint32_t *seq, const void **data, const enum handoff_hand hand)
{
	uint32_t rounds = 0;

	while (!likely(handover_take(h, seq, data))) {
		int rc = 0;

		if (hand == HANDOFF_EVENT) {
			rc = handoff_nap(w, h, wait);
		} else {
			handoff_relax(hand);
			if (likely(++rounds % IDLE_ROUNDS_TO_LOOK))
				continue;
			rc = must_end(w, wait->progress) ? -EINTR : 0;
		}
		if (rc < 0)
			return rc;
		if (handoff_is_late(w, t, wait))
			return handover_take(h, seq, data);
	}
	return 1;
}

/* --- receiving itself --- */

/* Receive one message or acknowledgement, and record it in `side`. 1; 0: the deadline has passed;
 * or a negative errno. */
ALWAYS int handoff_receive(struct worker *w, struct TRANSPORT *t, const struct handoff_wait *wait)
{
	struct handoff_side *side = w->side;
	const int64_t since = T(begin)(t);
	uint32_t rounds = 0, got = 0;

	for (;;) {
		int rc = T(poll_recv)(t, &got);

		if (likely(rc > 0))
			break;
		if (rc == 0)
			rc = await_message(w, t, w->poll_recv, &rounds, since, wait->progress);
		if (rc < 0)
			return rc;
		if ((w->poll_recv != POLL_BUSY || rounds % IDLE_ROUNDS_TO_LOOK == 0) && handoff_is_late(w, t, wait))
			return 0;
	}
	if (!(got & HANDOFF_ACK)) {
		side->is_pending = true;
		side->pending = got;
		return 1;
	}
	side->is_acked = true;
	side->acked = got & ~HANDOFF_ACK;
	const int rc = T(release)(t);

	return rc ? rc : 1;
}

ALWAYS int handoff_take_direct(struct worker *w, struct TRANSPORT *t, const struct handoff_wait *wait, uint32_t *seq,
			       const void **data, const unsigned choices)
{
	struct handoff_side *side = w->side;
	int rc = 1;

	while (!side->is_pending && rc > 0)
		rc = handoff_receive(w, t, wait);
	if (!side->is_pending)
		return rc;
	side->is_pending = false;
	*seq = side->pending;
	*data = T(recv_buffer)(t);
	if (w->column[HANDOFF_T_SEEN] && *seq < w->messages)
		w->column[HANDOFF_T_SEEN][*seq] = T(end)(t);
	rc = choices & HANDOFF_ACKS ? handoff_acknowledge(w, t, *seq, HANDOFF_DIRECT) : 0;
	if (choices & HANDOFF_COPIES) {
		memcpy(side->in.data, *data, handoff_payload(w));
		*data = side->in.data;
	}
	return rc ? rc : 1;
}

/* --- both --- */

ALWAYS int handoff_await_message(struct worker *w, struct TRANSPORT *t, const struct handoff_wait *wait, uint32_t *seq,
				 const void **data, const unsigned choices)
{
	struct handoff_side *side = w->side;

	if (HANDOFF_HAND(choices) == HANDOFF_DIRECT)
		return handoff_take_direct(w, t, wait, seq, data, choices);
	return handoff_take(w, t, &side->message, wait, seq, data, HANDOFF_HAND(choices));
}

/* A user that receives itself treats a later message as an acknowledgement, in case the
 * acknowledgement itself was lost. */
ALWAYS int handoff_await_ack(struct worker *w, struct TRANSPORT *t, const struct handoff_wait *wait, uint32_t seq,
			     const unsigned choices)
{
	struct handoff_side *side = w->side;
	const void *none;
	uint32_t got = seq;
	int rc = 1;

	if (!(choices & HANDOFF_ACKS))
		return 1;
	if (HANDOFF_HAND(choices) != HANDOFF_DIRECT) {
		do
			rc = handoff_take(w, t, &side->ack, wait, &got, &none, HANDOFF_HAND(choices));
		while (rc > 0 && got != seq);
		return rc;
	}
	while (rc > 0 && !(side->is_acked && side->acked == seq) && !side->is_pending)
		rc = handoff_receive(w, t, wait);
	return rc;
}

/* Return the buffer that the user has read. If there is a messenger, it has already returned the
 * buffer: its content remains until the other side has sent as many messages as there are buffers,
 * which it does not do before it has received an answer. */
ALWAYS int handoff_give_back(struct TRANSPORT *t, const unsigned choices)
{
	return HANDOFF_HAND(choices) == HANDOFF_DIRECT ? T(release)(t) : 0;
}

#endif
