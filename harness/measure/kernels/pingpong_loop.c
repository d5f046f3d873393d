/*
 * The loops of `pingpong`. Nothing happens between seeing a message and posting its answer; buffers
 * are released and send completions polled while it is the other side's turn.
 */
#include "measure/kernels/loop.h"
#include "measure/kernels/pingpong.h"
#include "measure/kernels/round_trip.h"

/* Choices made at set-up, constant in each instance. The two lowest bits are the poll mode. */
enum { CHECKS = 4, RELEASES_BEFORE = 8, STAMPS_TURN = 16, SERVES = 32 };

ALWAYS size_t pingpong_answer_bytes(const struct pingpong_settings *s)
{
	return (size_t)(s->answer ? s->answer : s->size);
}

ALWAYS int pingpong_run_source(struct worker *w, void *state, const unsigned choices)
{
	const enum poll_mode mode = (enum poll_mode)(choices & 3);
	struct TRANSPORT *t = (struct TRANSPORT *)w->transport;
	const struct pingpong_settings *s = w->settings;
	const uint32_t messages = w->messages;
	const int64_t duration = clock_from_ns(&w->clock, s->duration);
	const int64_t pause = w->is_warm_up ? 0 : clock_from_ns(&w->clock, s->pause);
	const int64_t lost_after = clock_from_ns(&w->clock, s->lost_after);
	int64_t *const t_subm = w->column[PINGPONG_T_SUBM], *const t_back = w->column[PINGPONG_T_BACK];
	const int64_t start = T(begin)(t);
	struct signals signals = signals_of(w);
	uint32_t seq = 0, done = 0;
	int rc = 0;

	(void)state;
	while (seq < messages) {
		const bool signal = signals_next(&signals);

		if (choices & CHECKS)
			payload_fill(T(send_buffer)(t, seq), (size_t)s->size - t->base.overhead, seq);

		int64_t stamp = T(begin)(t);

		rc = T(post)(t, seq, signal);
		if (!likely(rc == 0))
			break;
		if (mode != POLL_BUSY)
			T(wake_recv)(t);
		t_subm[seq] = stamp;
		gap_log_post(w);
		rc = round_trip_await_answer(w, t, mode, seq, stamp, stamp + lost_after);
		if (rc < 0)
			break;
		if (likely(rc > 0)) {
			int64_t back = T(end)(t);

			t_back[seq] = back;
			w->counters.received++;
			if ((choices & CHECKS) &&
			    !payload_is_right(T(recv_buffer)(t), pingpong_answer_bytes(s) - t->base.overhead, seq))
				w->counters.bad_payloads++;
			rc = T(release)(t);
			if (!likely(rc == 0))
				break;
			stamp = back;
		}
		gap_log_round(w);
		seq++;
		rc = round_trip_make_room(w, t, seq, &done);
		if (rc)
			break;
		if (duration && stamp - start >= duration)
			break;
		if (pause) {
			rc = round_trip_rest(w, t, T(begin)(t) + pause, seq);
			if (rc)
				break;
		}
	}
	w->counters.posted = seq;
	w->counters.completed = done;
	atomic_store(&w->progress, seq);
	return rc < 0 ? rc : 0;
}

#define PINGPONG_CAN_BE(choices)      (choices < 2 * CHECKS && (choices & 3) <= POLL_ADAPTIVE)
#define PINGPONG_SINK_CAN_BE(choices) (choices < 2 * SERVES && (choices & 3) <= POLL_ADAPTIVE)

static unsigned pingpong_choices(const struct worker *w)
{
	const struct pingpong_settings *s = w->settings;

	return (unsigned)w->poll_recv | (s->check ? CHECKS : 0);
}

LOOP_INSTANCES(pingpong_run_source, PINGPONG_CAN_BE)

static int pingpong_choose_source(struct worker *w)
{
	return LOOP_RUN(pingpong_run_source, w, NULL, pingpong_choices(w));
}

static int pingpong_source(struct worker *w)
{
	const struct pingpong_settings *s = w->settings;

	return round_trip_run(w, w->poll_recv != POLL_BUSY, s->lost_after, pingpong_choose_source);
}

/* What a server does with message `n`: it works on it, and has it stored by its backups. */
ALWAYS int pingpong_serve(struct worker *w, struct TRANSPORT *t, int64_t ticks, uint32_t n)
{
	const int64_t until = T(begin)(t) + ticks;
	const uint32_t backups = (uint32_t)((const struct pingpong_settings *)w->settings)->backups;
	const struct pingpong_side *side = w->side;

	while (ticks && T(pause)(t, until) < until)
		;
	if (!backups)
		return 0;
	shared_counter_add(&side->view.counters->asked);
	return shared_counter_await(w, &side->view.counters->stored, side->view.stored + backups * (n + 1), n);
}

ALWAYS void pingpong_check_and_fill(struct worker *w, struct TRANSPORT *t, uint32_t seq)
{
	const struct pingpong_settings *s = w->settings;

	if (!payload_is_right(T(recv_buffer)(t), (size_t)s->size - t->base.overhead, seq))
		w->counters.bad_payloads++;
	payload_fill(T(send_buffer)(t, seq), pingpong_answer_bytes(s) - t->base.overhead, seq);
}

ALWAYS int pingpong_run_sink(struct worker *w, void *state, const unsigned choices)
{
	const enum poll_mode mode = (enum poll_mode)(choices & 3);
	struct TRANSPORT *t = (struct TRANSPORT *)w->transport;
	const struct pingpong_settings *s = w->settings;
	const uint32_t messages = w->messages;
	const int64_t serve = clock_from_ns(&w->clock, s->serve);
	int64_t since = T(begin)(t);
	struct signals signals = signals_of(w);
	int64_t *const t_turn = w->column[PINGPONG_T_TURN];
	bool signal = signals_next(&signals);
	int64_t turn = 0;
	uint32_t rounds = 0, seq = 0, n = 0, done = 0;
	int rc = 0;

	(void)state;
	while (n < messages) {
		rc = T(poll_recv)(t, &seq);
		if (!likely(rc > 0)) {
			if (rc == 0)
				rc = await_message(w, t, mode, &rounds, since, n);
			if (rc < 0)
				break;
			continue;
		}
		if (choices & STAMPS_TURN)
			turn = T(end)(t);
		if (choices & CHECKS)
			pingpong_check_and_fill(w, t, seq);
		if (choices & RELEASES_BEFORE) {
			rc = T(release)(t);
			if (!likely(rc == 0))
				break;
		}
		rc = choices & SERVES ? pingpong_serve(w, t, serve, n) : 0;
		if (likely(rc == 0))
			rc = T(post)(t, seq, signal);
		if (!likely(rc == 0))
			break;
		if (mode != POLL_BUSY)
			T(wake_recv)(t);
		if (mode == POLL_ADAPTIVE)
			since = T(begin)(t);
		gap_log_post(w);
		if ((choices & STAMPS_TURN) && likely(seq < messages))
			t_turn[seq] = turn;
		if (!(choices & RELEASES_BEFORE)) {
			rc = T(release)(t);
			if (!likely(rc == 0))
				break;
		}
		n++;
		signal = signals_next(&signals);
		/* Completions carry the message's number rather than the count of answers; after a
		 * loss these differ. */
		rc = round_trip_make_room(w, t, seq + 1, &done);
		if (rc)
			break;
		if (seq + 1 >= messages)
			break;
	}
	w->counters.received = n;
	w->counters.posted = n;
	atomic_store(&w->progress, n);
	return rc < 0 && rc != -EINTR ? rc : 0;
}

LOOP_INSTANCES(pingpong_run_sink, PINGPONG_SINK_CAN_BE)

static int pingpong_sink(struct worker *w)
{
	const struct pingpong_settings *s = w->settings;
	const unsigned release = s->release == PINGPONG_RELEASE_BEFORE ? RELEASES_BEFORE : 0;
	const unsigned turn = w->column[PINGPONG_T_TURN] ? STAMPS_TURN : 0;
	const unsigned serves = s->serve || s->backups ? SERVES : 0;

	const int rc = LOOP_RUN(pingpong_run_sink, w, NULL, pingpong_choices(w) | release | turn | serves);

	if (w->side)
		atomic_store(&((struct pingpong_side *)w->side)->has_ended, true);
	return rc;
}

const struct kernel_loops INSTANCE(pingpong_loops);
const struct kernel_loops INSTANCE(pingpong_loops) = {
    .loop = {[PINGPONG_SOURCE] = pingpong_source, [PINGPONG_SINK] = pingpong_sink, [PINGPONG_WORK] = pingpong_compute}};
