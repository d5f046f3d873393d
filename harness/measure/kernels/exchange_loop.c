/*
 * The loops of `exchange`. Between the sink's two stamps, only the message's number is checked; the
 * post immediately follows the second one.
 */
#include "measure/kernels/exchange.h"
#include "measure/kernels/loop.h"
#include "measure/kernels/round_trip.h"

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
		rc = round_trip_await_answer(w, t, POLL_BUSY, seq, stamp, stamp + lost_after);
		if (likely(rc > 0)) {
			t_back[seq] = T(end)(t);
			w->counters.received++;
			rc = T(release)(t);
		}
		if (rc < 0)
			break;
		seq++;
		rc = round_trip_make_room(w, t, seq, &done);
		if (!rc && pause)
			rc = round_trip_rest(w, t, T(begin)(t) + pause, seq);
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
		/* Completions carry the message's number rather than the count of answers; after a
		 * loss these differ. */
		if (likely(rc == 0))
			rc = round_trip_make_room(w, t, seq + 1, &done);
	}
	w->counters.received = n;
	w->counters.posted = n;
	atomic_store(&w->progress, n);
	return rc < 0 && rc != -EINTR ? rc : 0;
}

const struct kernel_loops INSTANCE(exchange_loops);
const struct kernel_loops INSTANCE(exchange_loops) = {
    .loop = {[EXCHANGE_SOURCE] = exchange_source, [EXCHANGE_SINK] = exchange_sink}};
