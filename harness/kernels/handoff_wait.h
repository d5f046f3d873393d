/*
 * How a user of `handoff` waits for a message or an acknowledgement: for what its messenger gives, or receiving itself.
 * For handoff_loop.c alone.
 */
#ifndef KBLAT_KERNELS_HANDOFF_WAIT_H
#define KBLAT_KERNELS_HANDOFF_WAIT_H

#include <string.h>

#include "kernels/handoff_post.h"

/* --- for what a messenger gives --- */

struct handoff_wait {
	int64_t deadline; /* in ticks, of what may get lost */
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

/* 1: here it is; 0: late; or a negative errno. */
ALWAYS int handoff_take(struct worker *w, struct TRANSPORT *t, struct handover *h, const struct handoff_wait *wait,
			uint32_t *seq, const void **data, const enum handoff_hand hand)
{
	uint32_t rounds = 0;

	while (!likely(handover_take(h, seq, data))) {
		int rc = 0;

		if (hand == HANDOFF_EVENT) {
			rc = handoff_nap(w, h, wait);
		} else {
			cpu_relax();
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

/* One message or acknowledgement that arrives is noted in `side`. 1, 0: late, or a negative errno. */
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
	rc = choices & HANDOFF_ACKS ? handoff_acknowledge(w, t, *seq, false) : 0;
	if (choices & HANDOFF_COPIES) {
		memcpy(side->in.data, *data, handoff_payload(w));
		*data = side->in.data;
	}
	return rc ? rc : 1;
}

/* --- either way --- */

ALWAYS int handoff_await_message(struct worker *w, struct TRANSPORT *t, const struct handoff_wait *wait, uint32_t *seq,
				 const void **data, const unsigned choices)
{
	struct handoff_side *side = w->side;

	if (HANDOFF_HAND(choices) == HANDOFF_DIRECT)
		return handoff_take_direct(w, t, wait, seq, data, choices);
	return handoff_take(w, t, &side->message, wait, seq, data, HANDOFF_HAND(choices));
}

/* Who receives itself takes a later message for as much, if the acknowledgement itself got lost. */
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

/* What a message layer's user has read goes back. A messenger has given it back already: what is in it stays until the
 * other side has sent as many messages as there are buffers, and it sends none before it has had an answer. */
ALWAYS int handoff_give_back(struct TRANSPORT *t, const unsigned choices)
{
	return HANDOFF_HAND(choices) == HANDOFF_DIRECT ? T(release)(t) : 0;
}

#endif
