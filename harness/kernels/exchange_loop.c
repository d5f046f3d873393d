/*
 * The loops of `exchange`. The sink's two stamps have nothing between them but the look at the message's number; its post follows the second at once.
 */
#include "kernels/exchange.h"
#include "kernels/loop.h"

/* Completions are counted only, while there is nothing else to do. */
ALWAYS int exchange_make_room(struct worker *w, struct TRANSPORT *t, uint32_t posted, uint32_t *done)
{
	uint32_t rounds = 0, seq = 0;
	int rc = posted - *done < w->signal_every ? 0 : 1;

	while (rc > 0) {
		rc = T(poll_send)(t, &seq);
		if (rc > 0)
			*done = seq + 1;
		else if (rc == 0 && posted - *done >= w->depth)
			rc = idle(w, &rounds, posted) ? -EINTR : 1;
		else
			break;
	}
	return rc < 0 ? rc : 0;
}

/* The answer to `seq`; those to messages that were given up are passed over. 1: here it is, 0: it is lost, or a negative errno. */
ALWAYS int exchange_await(struct worker *w, struct TRANSPORT *t, uint32_t seq, int64_t deadline)
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
			if (idle(w, &rounds, seq))
				return -EINTR;
			if (w->lossy && rounds % IDLE_ROUNDS_TO_LOOK == 0 && T(pause)(t, deadline) >= deadline)
				return 0;
		}
		if (rc < 0)
			return rc;
	}
}

/* What a round trip leaves to do once it is stamped. */
ALWAYS int exchange_end(struct worker *w, struct TRANSPORT *t, uint32_t posted, uint32_t *done, int64_t until)
{
	uint32_t rounds = 0;
	int rc = exchange_make_room(w, t, posted, done);

	while (!rc && until && T(pause)(t, until) < until)
		rc = idle(w, &rounds, posted) ? -EINTR : 0;
	return rc;
}

static int exchange_source(struct worker *w)
{
	struct TRANSPORT *t = (struct TRANSPORT *)w->transport;
	const struct exchange_settings *s = w->settings;
	const int64_t pause = w->is_warm_up ? 0 : clock_from_ns(&w->clock, s->pause);
	const int64_t lost_after = clock_from_ns(&w->clock, s->lost_after);
	int64_t *const t_subm = w->column[EXCHANGE_T_SUBM], *const t_back = w->column[EXCHANGE_T_BACK];
	struct signals signals = signals_of(w);
	uint32_t seq = 0, done = 0;
	int rc = 0;

	while (rc >= 0 && seq < w->messages) {
		const bool signal = signals_next(&signals);
		int64_t stamp = T(begin)(t);

		rc = T(post)(t, seq, signal);
		if (!likely(rc == 0))
			break;
		t_subm[seq] = stamp;
		rc = exchange_await(w, t, seq, stamp + lost_after);
		if (likely(rc > 0)) {
			t_back[seq] = T(end)(t);
			w->counters.received++;
			rc = T(release)(t);
		}
		if (rc < 0)
			break;
		seq++;
		rc = exchange_end(w, t, seq, &done, pause ? T(begin)(t) + pause : 0);
	}
	w->counters.posted = seq;
	w->counters.completed = done;
	atomic_store(&w->progress, seq);
	return rc < 0 ? rc : 0;
}

static int exchange_sink(struct worker *w)
{
	struct TRANSPORT *t = (struct TRANSPORT *)w->transport;
	int64_t *const t_recv = w->column[EXCHANGE_T_RECV], *const t_answer = w->column[EXCHANGE_T_ANSWER];
	struct signals signals = signals_of(w);
	bool signal = signals_next(&signals);
	uint32_t rounds = 0, seq = 0, n = 0, done = 0;
	int rc = 0;

	while (rc >= 0 && n < w->messages && (!n || seq + 1 < w->messages)) {
		rc = T(poll_recv)(t, &seq);
		if (!likely(rc > 0)) {
			if (rc == 0 && idle(w, &rounds, n))
				rc = -EINTR;
			continue;
		}

		int64_t seen = T(end)(t);
		const bool known = likely(seq < w->messages);
		int64_t stamp = T(begin)(t);

		rc = T(post)(t, seq, signal);
		if (known) {
			t_recv[seq] = seen;
			t_answer[seq] = stamp;
		} else {
			w->counters.overflows++;
		}
		if (likely(rc == 0))
			rc = T(release)(t);
		n++;
		signal = signals_next(&signals);
		/* Completions carry the message's number, not the count of answers: after a loss they differ. */
		if (likely(rc == 0))
			rc = exchange_make_room(w, t, seq + 1, &done);
	}
	w->counters.received = n;
	w->counters.posted = n;
	atomic_store(&w->progress, n);
	return rc < 0 && rc != -EINTR ? rc : 0;
}

const struct kernel_loops INSTANCE(exchange_loops);
const struct kernel_loops INSTANCE(exchange_loops) = {
    .loop = {[EXCHANGE_SOURCE] = exchange_source, [EXCHANGE_SINK] = exchange_sink}};
