/* The loops of `backup`. The sink, on the server's host, posts; the source, the backup, answers. */
#include "measure/kernels/loop.h"
#include "measure/kernels/round_trip.h"

static int backup_sink(struct worker *w)
{
	struct TRANSPORT *t = (struct TRANSPORT *)w->transport;
	const struct shared_counters_view *v = w->side;
	int64_t *const t_subm = w->column[BACKUP_T_SUBM], *const t_back = w->column[BACKUP_T_BACK];
	struct signals signals = signals_of(w);
	uint32_t seq = 0, done = 0;
	int rc = 0;

	while (rc >= 0 && seq < w->messages) {
		const bool signal = signals_next(&signals);

		rc = shared_counter_await(w, &v->counters->asked, v->asked + seq + 1, seq);
		if (rc)
			break;

		const int64_t stamp = T(begin)(t);

		rc = T(post)(t, seq, signal);
		if (!likely(rc == 0))
			break;
		if (w->poll_recv != POLL_BUSY)
			T(wake_recv)(t);
		t_subm[seq] = stamp;
		rc = round_trip_await_answer(w, t, w->poll_recv, seq, stamp, INT64_MAX);
		if (rc < 0)
			break;
		t_back[seq] = T(end)(t);
		shared_counter_add(&v->counters->stored);
		w->counters.received++;
		rc = T(release)(t);
		seq++;
		if (likely(rc == 0))
			rc = round_trip_make_room(w, t, seq, &done);
	}
	w->counters.posted = seq;
	w->counters.completed = done;
	atomic_store(&w->progress, seq);
	return rc < 0 && rc != -EINTR ? rc : 0;
}

static int backup_source(struct worker *w)
{
	struct TRANSPORT *t = (struct TRANSPORT *)w->transport;
	struct signals signals = signals_of(w);
	int64_t since = T(begin)(t);
	uint32_t rounds = 0, seq = 0, n = 0, done = 0;
	int rc = 0;

	while (rc >= 0 && n < w->messages) {
		rc = T(poll_recv)(t, &seq);
		if (!likely(rc > 0)) {
			if (rc == 0)
				rc = await_message(w, t, w->poll_recv, &rounds, since, n);
			continue;
		}
		rc = T(post)(t, seq, signals_next(&signals));
		if (!likely(rc == 0))
			break;
		if (w->poll_recv != POLL_BUSY)
			T(wake_recv)(t);
		if (w->poll_recv == POLL_ADAPTIVE)
			since = T(begin)(t);
		n++;
		rc = T(release)(t);
		if (likely(rc == 0))
			rc = round_trip_make_room(w, t, n, &done);
	}
	w->counters.received = n;
	w->counters.posted = n;
	w->counters.completed = done;
	atomic_store(&w->progress, n);
	return rc < 0 ? rc : 0;
}

const struct kernel_loops INSTANCE(backup_loops);
const struct kernel_loops INSTANCE(backup_loops) = {
    .loop = {[BACKUP_SOURCE] = backup_source, [BACKUP_SINK] = backup_sink}};
