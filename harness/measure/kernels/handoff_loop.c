/*
 * The loops of `handoff`: a user's thread on each side, and a messenger's unless the user receives
 * itself. They measure the cost of the message layer; everything else (filling and checking
 * payloads, returning requests) is outside of the measured intervals.
 */
#include <signal.h>

#include "measure/instrument/waker.h"
#include "measure/kernels/handoff.h"
#include "measure/kernels/handoff_side.h"
#include "measure/kernels/loop.h"
#include "measure/kernels/round_trip.h"

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
