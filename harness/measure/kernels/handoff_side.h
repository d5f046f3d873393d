/*
 * How threads of `handoff` post (a side's user messages, its messenger acknowledgements), and how a
 * user waits for a message or an acknowledgement: for its messenger to hand it over, or by receiving
 * itself. Only for handoff_loop.c.
 */
#ifndef KBLAT_KERNELS_HANDOFF_SIDE_H
#define KBLAT_KERNELS_HANDOFF_SIDE_H

#include <sched.h>
#include <string.h>

#include "measure/kernels/handoff.h"
#include "measure/kernels/loop.h"
#include "measure/kernels/register.h"

/* Choices made at set-up, constant in each instance of a user's loop. The two lowest bits are the
 * kind of hand-over. */
enum { HANDOFF_ACKS = 4, HANDOFF_COPIES = 8, HANDOFF_WAKES = 16 /* the other side may sleep */ };

#define HANDOFF_HAND(choices) ((enum handoff_hand)((choices)&3))

static size_t handoff_payload(const struct worker *w)
{
	const struct handoff_settings *s = w->settings;

	return (size_t)s->size - w->transport->overhead;
}

/* --- the user's memory, registered for each message --- */

static __attribute__((noinline)) int handoff_hold(struct worker *w, struct TRANSPORT *t, struct memory *m,
						  void **handle)
{
	struct handoff_side *side = w->side;
	const int rc = TRANSPORT_REGISTERS ? T(register_memory)(t, m->data, handoff_payload(w), handle)
					   : register_lock(m->data, handoff_payload(w));

	if (rc) {
		side->failed = "register";
		side->failure = rc;
	}
	return rc;
}

static __attribute__((noinline)) int handoff_drop(struct worker *w, struct TRANSPORT *t, struct memory *m,
						  void **handle)
{
	struct handoff_side *side = w->side;
	const int rc =
	    TRANSPORT_REGISTERS ? T(deregister_memory)(t, *handle) : register_unlock(m->data, handoff_payload(w));

	*handle = NULL;
	if (rc) {
		side->failed = "deregister";
		side->failure = rc;
	}
	return rc;
}

/* These calls take microseconds, so a branch does not count. */
ALWAYS bool handoff_registers(const struct worker *w)
{
	const struct handoff_settings *s = w->settings;

	return s->registers;
}

ALWAYS int handoff_hold_out(struct worker *w, struct TRANSPORT *t)
{
	struct handoff_side *side = w->side;

	return handoff_registers(w) ? handoff_hold(w, t, &side->out, &side->out_handle) : 0;
}

ALWAYS int handoff_hold_in(struct worker *w, struct TRANSPORT *t)
{
	struct handoff_side *side = w->side;

	return handoff_registers(w) ? handoff_hold(w, t, &side->in, &side->in_handle) : 0;
}

ALWAYS int handoff_drop_out(struct worker *w, struct TRANSPORT *t)
{
	struct handoff_side *side = w->side;

	return handoff_registers(w) ? handoff_drop(w, t, &side->out, &side->out_handle) : 0;
}

ALWAYS int handoff_drop_in(struct worker *w, struct TRANSPORT *t)
{
	struct handoff_side *side = w->side;

	return handoff_registers(w) ? handoff_drop(w, t, &side->in, &side->in_handle) : 0;
}

ALWAYS int handoff_drop_both(struct worker *w, struct TRANSPORT *t)
{
	const int rc = handoff_drop_in(w, t);

	return rc ? rc : handoff_drop_out(w, t);
}

/* At the end of a repetition, which may have been stopped: what is still registered with the device. */
static __attribute__((noinline)) int handoff_drop_rest(struct worker *w, struct TRANSPORT *t, int rc)
{
	struct handoff_side *side = w->side;
	int failed = side->in_handle ? handoff_drop_in(w, t) : 0;

	if (side->out_handle && !failed)
		failed = handoff_drop_out(w, t);
	return rc ? rc : failed;
}

/* --- posting --- */

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

/* --- receiving --- */

/* Was it already received? Its acknowledgement may have been lost, so it is acknowledged again. */
ALWAYS bool handoff_is_repeated(struct handoff_side *side, uint32_t seq)
{
	if (seq < side->next)
		return true;
	side->next = seq + 1;
	return false;
}

/* Where the send queue has no room, the other side will ask once more. */
static __attribute__((cold, noinline)) int handoff_drop_repeated(struct worker *w, struct TRANSPORT *t, uint32_t seq,
								 const enum handoff_hand hand)
{
	const struct handoff_settings *s = w->settings;
	struct handoff_side *side = w->side;
	bool is_full;
	int rc;

	if (!s->ack)
		return 0;
	if (hand != HANDOFF_DIRECT)
		handoff_lock(side, hand);
	rc = handoff_reap(w, t, side);
	is_full = side->posted - side->done + 2 > w->depth;
	if (hand != HANDOFF_DIRECT)
		handoff_unlock(side);
	return rc || is_full ? rc : handoff_acknowledge(w, t, seq, hand);
}

ALWAYS bool handoff_keeps(const struct worker *w)
{
	const struct handoff_settings *s = w->settings;

	return s->unexpected;
}

/* Copies a message to the user's memory, or, if the user has not asked for it, to the layer's. */
ALWAYS const void *handoff_take_copy(struct worker *w, const void *data)
{
	struct handoff_side *side = w->side;

	return memcpy(handoff_keeps(w) ? side->kept.data : side->in.data, data, handoff_payload(w));
}

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
	return unless_stopped(w, handover_sleep(h, !w->lossy ? 0 : s->retry ? s->retry : s->lost_after));
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
	if (!(got & HANDOFF_ACK) && !handoff_is_repeated(side, got)) {
		side->is_pending = true;
		side->pending = got;
		return 1;
	}
	if (got & HANDOFF_ACK) {
		side->is_acked = true;
		side->acked = got & ~HANDOFF_ACK;
	} else {
		const int failed = handoff_drop_repeated(w, t, got, HANDOFF_DIRECT);

		if (failed)
			return failed;
	}
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
	if (choices & HANDOFF_COPIES)
		*data = handoff_take_copy(w, *data);
	return rc ? rc : 1;
}

/* --- both --- */

/* The user asks for its message, which has been kept. */
ALWAYS void handoff_claim(struct worker *w, const void **data)
{
	struct handoff_side *side = w->side;

	if (handoff_keeps(w)) {
		if (!*data)
			__builtin_unreachable(); /* what has been received has data, which compilers cannot see */
		memcpy(side->in.data, *data, handoff_payload(w));
		*data = side->in.data;
	}
}

ALWAYS int handoff_await_message(struct worker *w, struct TRANSPORT *t, const struct handoff_wait *wait, uint32_t *seq,
				 const void **data, const unsigned choices)
{
	struct handoff_side *side = w->side;
	int rc;

	if (HANDOFF_HAND(choices) == HANDOFF_DIRECT)
		rc = handoff_take_direct(w, t, wait, seq, data, choices);
	else
		rc = handoff_take(w, t, &side->message, wait, seq, data, HANDOFF_HAND(choices));
	if (likely(rc > 0))
		handoff_claim(w, data);
	return rc;
}

/* A user that receives itself treats a later message as an acknowledgement, in case the
 * acknowledgement itself was lost. */
ALWAYS int handoff_await_ack_once(struct worker *w, struct TRANSPORT *t, const struct handoff_wait *wait, uint32_t seq,
				  const unsigned choices)
{
	struct handoff_side *side = w->side;
	const void *none;
	uint32_t got = seq;
	int rc = 1;

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

/* Whoever has sent this message or a later one has received ours, although its acknowledgement was lost. It may have
 * ended since, so that nobody would acknowledge the message that is sent again. */
static __attribute__((cold, noinline)) bool handoff_is_answered(struct handoff_side *side, uint32_t seq)
{
	return handover_holds(&side->message, seq);
}

/* Sends the message again whenever it was neither acknowledged nor answered for `retry`. */
ALWAYS int handoff_await_ack(struct worker *w, struct TRANSPORT *t, const struct handoff_wait *wait, uint32_t seq,
			     const unsigned choices)
{
	struct handoff_side *side = w->side;
	const struct handoff_settings *s = w->settings;
	const int64_t every = clock_from_ns(&w->clock, s->retry);
	struct handoff_wait once = *wait;
	int rc;

	if (!(choices & HANDOFF_ACKS))
		return 1;
	for (;;) {
		if (every)
			once.deadline = T(begin)(t) + every;
		rc = handoff_await_ack_once(w, t, &once, seq, choices);
		if (likely(rc) || once.deadline >= wait->deadline)
			return rc;
		if (handoff_is_answered(side, seq))
			return 1;
		side->retries++;
		rc = handoff_make_room(w, t, once.progress, choices);
		if (!rc)
			rc = handoff_post(w, t, seq, choices);
		if (rc)
			return rc;
	}
}

/* Return the buffer that the user has read. If there is a messenger, it has already returned the
 * buffer: its content remains until the other side has sent as many messages as there are buffers,
 * which it does not do before it has received an answer. */
ALWAYS int handoff_give_back(struct TRANSPORT *t, const unsigned choices)
{
	return HANDOFF_HAND(choices) == HANDOFF_DIRECT ? T(release)(t) : 0;
}

#endif
