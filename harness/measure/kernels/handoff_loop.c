/*
 * The loops of `handoff`: a user's thread on each side, and a messenger's unless the user receives
 * itself. They measure the cost of the message layer; everything else (filling and checking
 * payloads, returning requests) is outside of the measured intervals.
 */
#include <sched.h>
#include <signal.h>
#include <string.h>

#include "measure/instrument/waker.h"
#include "measure/kernels/handoff.h"
#include "measure/kernels/loop.h"
#include "measure/kernels/register.h"
#include "measure/kernels/round_trip.h"

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

/* --- the user's loops --- */

/* Filling and checking costs more than a branch and is not measured: decided at run time. */
ALWAYS bool handoff_checks(const struct worker *w)
{
	const struct handoff_settings *s = w->settings;

	return s->check;
}

ALWAYS void handoff_fill(struct worker *w, struct TRANSPORT *t, uint32_t seq, const unsigned choices)
{
	struct handoff_side *side = w->side;

	if (handoff_checks(w))
		payload_fill(choices & HANDOFF_COPIES ? side->out.data : T(send_buffer)(t, seq), handoff_payload(w),
			     seq);
}

ALWAYS void handoff_examine(struct worker *w, const void *data, uint32_t seq)
{
	if (handoff_checks(w) && !payload_is_right(data, handoff_payload(w), seq))
		w->counters.bad_payloads++;
}

/* Answers to messages that were given up earlier are ignored. */
ALWAYS int handoff_await_answer(struct worker *w, struct TRANSPORT *t, const struct handoff_wait *wait, uint32_t seq,
				const void **data, const unsigned choices)
{
	uint32_t got = seq;
	int rc;

	for (;;) {
		rc = handoff_await_message(w, t, wait, &got, data, choices);
		if (likely(rc <= 0 || got == seq))
			return rc;
		w->counters.reordered++;
		rc = handoff_give_back(t, choices);
		if (rc)
			return rc;
	}
}

ALWAYS int handoff_run_source(struct worker *w, void *state, const unsigned choices)
{
	struct TRANSPORT *t = (struct TRANSPORT *)w->transport;
	const struct handoff_settings *s = w->settings;
	const int64_t duration = clock_from_ns(&w->clock, s->duration);
	const int64_t lost_after = clock_from_ns(&w->clock, s->lost_after);
	const int64_t start = T(begin)(t);
	uint32_t seq = 0;
	int rc = 0;

	(void)state;
	while (seq < w->messages) {
		const void *data = NULL;
		struct handoff_wait wait = {.progress = seq};
		int64_t stamp;

		handoff_fill(w, t, seq, choices);
		stamp = T(begin)(t);
		rc = handoff_hold_in(w, t);
		if (!rc)
			rc = handoff_hold_out(w, t);
		if (!rc)
			rc = handoff_post(w, t, seq, choices);
		if (!likely(rc == 0))
			break;
		w->column[HANDOFF_T_SUBM][seq] = stamp;
		wait.deadline = stamp + lost_after;
		rc = handoff_await_ack(w, t, &wait, seq, choices);
		if (likely(rc > 0))
			rc = handoff_await_answer(w, t, &wait, seq, &data, choices);
		if (rc < 0)
			break;
		const int failed = handoff_drop_both(w, t);

		if (!likely(failed == 0)) {
			rc = failed;
			break;
		}
		if (likely(rc > 0)) {
			w->column[HANDOFF_T_BACK][seq] = stamp = T(end)(t);
			w->counters.received++;
			handoff_examine(w, data, seq);
			rc = handoff_give_back(t, choices);
			if (!likely(rc == 0))
				break;
		}
		rc = handoff_make_room(w, t, ++seq, choices);
		if (rc || (duration && stamp - start >= duration))
			break;
	}
	w->counters.posted = seq;
	w->counters.completed = seq;
	atomic_store(&w->progress, seq);
	return handoff_drop_rest(w, t, rc < 0 ? rc : 0);
}

ALWAYS int handoff_run_sink(struct worker *w, void *state, const unsigned choices)
{
	struct TRANSPORT *t = (struct TRANSPORT *)w->transport;
	const struct handoff_settings *s = w->settings;
	const int64_t lost_after = clock_from_ns(&w->clock, s->lost_after);
	uint32_t n = 0, seq = 0;
	int rc = 0;

	(void)state;
	while (n < w->messages) {
		const void *data = NULL;
		struct handoff_wait wait = {.deadline = INT64_MAX, .progress = n};

		rc = handoff_hold_in(w, t);
		if (rc)
			break;
		do
			rc = handoff_await_message(w, t, &wait, &seq, &data, choices);
		while (rc == 0);
		if (rc < 0)
			break;
		rc = handoff_drop_in(w, t);
		handoff_examine(w, data, seq);
		handoff_fill(w, t, seq, choices);
		if (!rc)
			rc = handoff_hold_out(w, t);
		if (!rc)
			rc = handoff_post(w, t, seq, choices);
		if (!likely(rc == 0))
			break;
		n++;
		rc = handoff_give_back(t, choices);
		if (!rc && choices & HANDOFF_ACKS) {
			wait.deadline = T(begin)(t) + lost_after;
			rc = handoff_await_ack(w, t, &wait, seq, choices);
		}
		if (rc >= 0)
			rc = handoff_drop_out(w, t);
		if (!rc)
			rc = handoff_make_room(w, t, n, choices);
		if (rc < 0 || seq + 1 >= w->messages)
			break;
	}
	w->counters.received = n;
	w->counters.posted = n;
	atomic_store(&w->progress, n);
	return handoff_drop_rest(w, t, rc < 0 && rc != -EINTR ? rc : 0);
}

#define HANDOFF_CAN_BE(choices)                                                                                        \
	(choices < 2 * HANDOFF_WAKES && HANDOFF_HAND(choices) <= HANDOFF_EVENT &&                                      \
	 (TRANSPORT_WAKES || !((choices)&HANDOFF_WAKES)))

LOOP_INSTANCES(handoff_run_source, HANDOFF_CAN_BE)
LOOP_INSTANCES(handoff_run_sink, HANDOFF_CAN_BE)

static unsigned handoff_choices(const struct worker *w)
{
	const struct handoff_settings *s = w->settings;

	return (unsigned)s->hand | (s->ack ? HANDOFF_ACKS : 0) | (s->copy ? HANDOFF_COPIES : 0) |
	       (TRANSPORT_WAKES && w->poll_recv != POLL_BUSY ? HANDOFF_WAKES : 0);
}

/* The messenger ends by itself, unless the repetition was aborted or messages were lost: then it
 * may wait for a message that never arrives. The signal is repeated, because it may arrive just
 * before the messenger falls asleep. */
static void handoff_end_user(struct worker *w)
{
	struct handoff_side *side = w->side;
	const struct timespec millisecond = {0, 1000000};

	atomic_store(&side->user_ended, true);
	while (atomic_load(&side->messenger_runs)) {
		nanosleep(&millisecond, NULL);
		if (atomic_load(&side->messenger_runs))
			pthread_kill(side->messenger, WAKER_SIGNAL);
	}
}

static int handoff_as_user(struct worker *w, kernel_loop *run)
{
	const struct handoff_settings *s = w->settings;
	const int rc = round_trip_run(w, s->hand == HANDOFF_DIRECT && w->poll_recv != POLL_BUSY,
				      s->retry ? s->retry : s->lost_after, run);

	handoff_end_user(w);
	return rc;
}

/*
 * A yielding thread makes a system call in each round of a wait, so nothing is gained by separate
 * instances: a single one tests its choices at run time. It is cold, so that the compiler's limits
 * of inlining are left for the others.
 */
#define HANDOFF_YIELDING static __attribute__((cold, noinline)) int

HANDOFF_YIELDING handoff_source_yielding(struct worker *w)
{
	return handoff_run_source(w, NULL, (handoff_choices(w) & ~3u) | HANDOFF_YIELD);
}

HANDOFF_YIELDING handoff_sink_yielding(struct worker *w)
{
	return handoff_run_sink(w, NULL, (handoff_choices(w) & ~3u) | HANDOFF_YIELD);
}

static bool handoff_yields(const struct worker *w)
{
	const struct handoff_settings *s = w->settings;

	return s->hand == HANDOFF_YIELD;
}

static int handoff_choose_source(struct worker *w)
{
	if (handoff_yields(w))
		return handoff_source_yielding(w);
	return LOOP_RUN(handoff_run_source, w, NULL, handoff_choices(w));
}

static int handoff_choose_sink(struct worker *w)
{
	if (handoff_yields(w))
		return handoff_sink_yielding(w);
	return LOOP_RUN(handoff_run_sink, w, NULL, handoff_choices(w));
}

static int handoff_source(struct worker *w)
{
	return handoff_as_user(w, handoff_choose_source);
}

static int handoff_sink(struct worker *w)
{
	return handoff_as_user(w, handoff_choose_sink);
}

/* --- the messenger --- */

struct handoff_messenger {
	/* number of the last message to arrive; at the sink, if there are acknowledgements, that
	 * of the last answer */
	uint32_t last;
	bool acks, copies, wakes;
};

static struct handoff_messenger handoff_messenger_of(const struct worker *w, enum role role)
{
	const struct handoff_settings *s = w->settings;

	return (struct handoff_messenger){
	    .last = (w->messages - 1) | (role == ROLE_SINK && s->ack ? HANDOFF_ACK : 0),
	    .acks = s->ack,
	    .copies = s->copy,
	    .wakes = s->hand == HANDOFF_EVENT,
	};
}

ALWAYS int handoff_deliver(struct worker *w, struct TRANSPORT *t, const struct handoff_messenger *m, uint32_t got,
			   const enum handoff_hand hand)
{
	struct handoff_side *side = w->side;
	const void *data = T(recv_buffer)(t);
	int rc = 0;

	if (got & HANDOFF_ACK) {
		handover_give(&side->ack, got & ~HANDOFF_ACK, NULL, m->wakes);
		return 0;
	}
	if (handoff_is_repeated(side, got))
		return handoff_drop_repeated(w, t, got, hand);
	if (w->column[HANDOFF_T_SEEN] && likely(got < w->messages))
		w->column[HANDOFF_T_SEEN][got] = T(end)(t);
	if (m->acks)
		rc = handoff_acknowledge(w, t, got, hand);
	if (m->copies)
		data = handoff_take_copy(w, data);
	handover_give(&side->message, got, data, m->wakes);
	return rc;
}

static bool handoff_user_ended(const struct handoff_side *side)
{
	return atomic_load_explicit(&side->user_ended, memory_order_relaxed);
}

/* From `hand`, only whether the user has the same CPU matters: then the thread that polls yields
 * between polls. */
ALWAYS int handoff_carry(struct worker *w, struct handoff_messenger m, const enum poll_mode mode,
			 const enum handoff_hand hand)
{
	struct TRANSPORT *t = (struct TRANSPORT *)w->transport;
	const struct handoff_side *side = w->side;
	int64_t since = T(begin)(t);
	uint32_t rounds = 0, got = 0;
	bool is_last = false;
	int rc = 0;

	while (rc >= 0 && !is_last) {
		rc = T(poll_recv)(t, &got);
		if (rc == 0) {
			if (hand == HANDOFF_YIELD && mode != POLL_EVENT)
				sched_yield();
			rc = await_message(w, t, mode, &rounds, since,
					   atomic_load_explicit(&w->progress, memory_order_relaxed));
			if ((mode != POLL_BUSY || rounds % IDLE_ROUNDS_TO_LOOK == 0) && handoff_user_ended(side))
				break;
			continue;
		}
		if (rc < 0)
			break;
		is_last = got == m.last;
		rc = handoff_deliver(w, t, &m, got, hand);
		if (!rc)
			rc = T(release)(t);
		if (mode == POLL_ADAPTIVE)
			since = T(begin)(t);
	}
	return rc;
}

HANDOFF_YIELDING handoff_carry_yielding(struct worker *w, struct handoff_messenger m)
{
	return handoff_carry(w, m, w->poll_recv, HANDOFF_YIELD);
}

static int handoff_messenger(struct worker *w, enum role role)
{
	struct handoff_side *side = w->side;
	const struct handoff_messenger m = handoff_messenger_of(w, role);
	int rc;

	side->messenger = pthread_self();
	atomic_store(&side->messenger_runs, true);
	if (handoff_yields(w))
		rc = handoff_carry_yielding(w, m);
	else
		rc = w->poll_recv == POLL_BUSY ? handoff_carry(w, m, POLL_BUSY, HANDOFF_SPIN)
					       : handoff_carry(w, m, w->poll_recv, HANDOFF_SPIN);
	atomic_store(&side->messenger_runs, false);
	return rc == -EINTR && handoff_user_ended(side) ? 0 : rc;
}

static int handoff_source_messenger(struct worker *w)
{
	return handoff_messenger(w, ROLE_SOURCE);
}

static int handoff_sink_messenger(struct worker *w)
{
	const int rc = handoff_messenger(w, ROLE_SINK);

	return rc == -EINTR ? 0 : rc;
}

const struct kernel_loops INSTANCE(handoff_loops);
const struct kernel_loops INSTANCE(handoff_loops) = {.loop = {[HANDOFF_SOURCE_MESSENGER] = handoff_source_messenger,
							      [HANDOFF_SOURCE] = handoff_source,
							      [HANDOFF_SINK_MESSENGER] = handoff_sink_messenger,
							      [HANDOFF_SINK] = handoff_sink}};
