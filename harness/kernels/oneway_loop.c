/*
 * The loops of `oneway`, compiled once for each transport: TRANSPORT names it, TRANSPORT_HOT is the header with its hot
 * path. Every choice made at set-up (busy or event, payloads checked or not) is a constant argument of an
 * always-inlined function, so no branch of it is left in the loop. One message costs the harness one stamp and one
 * store a side and column: nothing else stands between a stamp and what it stamps.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kernels/oneway.h"
#include "kernels/payload.h"

#include TRANSPORT_HOT

#define PASTE2(a, b)	    a##b
#define PASTE(a, b)	    PASTE2(a, b)
#define T(function)	    PASTE(TRANSPORT, _##function)
#define INSTANCE(name)	    PASTE(name##_, TRANSPORT)
#define ALWAYS		    static inline __attribute__((always_inline))
#define likely(x)	    __builtin_expect(!!(x), 1)
#define IDLE_ROUNDS_TO_LOOK 256

/* Looked at only while there is nothing to do. True if the control thread wants this to end. */
ALWAYS bool idle(struct worker *w, uint32_t *rounds, uint64_t progress)
{
	cpu_relax();
	if (likely(++*rounds % IDLE_ROUNDS_TO_LOOK))
		return false;
	atomic_store_explicit(&w->progress, progress, memory_order_relaxed);
	return atomic_load_explicit(&w->stop, memory_order_relaxed);
}

/* Poll one send completion and stamp it. 1, 0, or a negative errno. */
ALWAYS int reap(struct worker *w, struct TRANSPORT *t)
{
	uint32_t seq = 0;
	int rc = T(poll_send)(t, &seq);

	if (rc > 0) {
		int64_t stamp = T(end)(t);

		if (likely(seq < w->messages))
			w->column[ONEWAY_T_COMP][seq] = stamp;
		else
			w->counters.overflows++;
	}
	return rc;
}

/* The posting thread sleeps until the completion thread has seen `want` completions. */
static int sleep_until_completed(struct worker *w, uint32_t want)
{
	for (;;) {
		uint32_t seen = atomic_load(&w->completed);
		struct timespec look_again = {0, 50000000};

		if (seen >= want)
			return 0;
		if (atomic_load_explicit(&w->stop, memory_order_relaxed))
			return -EINTR;
		syscall(SYS_futex, &w->completed, FUTEX_WAIT_PRIVATE, seen, &look_again, NULL, 0);
	}
}

/* Until at most `in_flight` of the `posted` messages are not completed. */
ALWAYS int drain(struct worker *w, struct TRANSPORT *t, const bool event, uint32_t posted, uint32_t in_flight,
		 uint32_t *done)
{
	uint32_t rounds = 0;

	if (event) {
		int rc = sleep_until_completed(w, posted - in_flight);

		*done = atomic_load_explicit(&w->completed, memory_order_relaxed);
		return rc;
	}
	while (posted - *done > in_flight) {
		int rc = reap(w, t);

		if (rc < 0)
			return rc;
		if (rc > 0)
			(*done)++;
		else if (idle(w, &rounds, posted))
			return -EINTR;
	}
	return 0;
}

/* Busy: spin, the CPU stays awake. Event: sleep, as a thread that waits for events would. */
ALWAYS int rest(struct worker *w, struct TRANSPORT *t, const bool event, int64_t pause_ns, int64_t pause_ticks,
		uint64_t progress)
{
	uint32_t rounds = 0;

	if (event) {
		struct timespec ts = {pause_ns / 1000000000, pause_ns % 1000000000};

		atomic_store_explicit(&w->progress, progress, memory_order_relaxed);
		while (nanosleep(&ts, &ts) && errno == EINTR)
			if (atomic_load_explicit(&w->stop, memory_order_relaxed))
				return -EINTR;
		return 0;
	}
	int64_t until = T(begin)(t) + pause_ticks;

	while (T(pause)(t, until) < until)
		if (idle(w, &rounds, progress))
			return -EINTR;
	return 0;
}

ALWAYS int run_source(struct worker *w, const bool event, const bool check)
{
	struct TRANSPORT *t = (struct TRANSPORT *)w->transport;
	const struct oneway_settings *s = w->settings;
	const uint32_t messages = w->messages, depth = w->depth;
	const uint32_t burst = s->burst < messages ? (uint32_t)s->burst : messages;
	const int64_t pause_ns = s->pause;
	const int64_t pause_ticks = clock_from_ns(&w->clock, pause_ns);
	int64_t *const t_subm = w->column[ONEWAY_T_SUBM];
	uint32_t seq = 0, done = 0;
	int rc = 0;

	while (seq < messages) {
		const uint32_t end = messages - seq < burst ? messages : seq + burst;

		while (seq < end) {
			if (seq - done == depth) {
				rc = drain(w, t, event, seq, depth - 1, &done);
				if (rc)
					goto out;
			}
			if (check)
				payload_fill(T(send_buffer)(t, seq), (size_t)s->size, seq);

			int64_t stamp = T(begin)(t);

			rc = T(post)(t, seq);
			if (!likely(rc == 0))
				goto out;
			if (event)
				T(kick_recv)(t);
			t_subm[seq++] = stamp;
			if (!event) {
				rc = reap(w, t);
				if (!likely(rc >= 0))
					goto out;
				done += (uint32_t)rc;
			}
		}
		rc = drain(w, t, event, seq, 0, &done);
		if (!rc && pause_ns && seq < messages)
			rc = rest(w, t, event, pause_ns, pause_ticks, seq);
		if (rc)
			goto out;
	}
out:
	w->counters.posted = seq;
	if (!event)
		w->counters.completed = done;
	atomic_store(&w->progress, seq);
	return rc < 0 ? rc : 0;
}

static int source(struct worker *w)
{
	const struct oneway_settings *s = w->settings;

	if (w->poll == POLL_EVENT)
		return s->check ? run_source(w, true, true) : run_source(w, true, false);
	return s->check ? run_source(w, false, true) : run_source(w, false, false);
}

/* Event mode's second thread at the source: it alone touches the send completions. */
static int completions(struct worker *w)
{
	struct TRANSPORT *t = (struct TRANSPORT *)w->transport;
	uint32_t done = 0;
	int rc = 0;

	while (done < w->messages) {
		rc = reap(w, t);
		if (rc < 0)
			break;
		if (rc > 0) {
			done++;
			continue;
		}
		if (atomic_load(&w->completed) != done) {
			atomic_store(&w->completed, done);
			syscall(SYS_futex, &w->completed, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
		}
		rc = T(wait_send)(t);
		if (rc == -EINTR && !atomic_load_explicit(&w->stop, memory_order_relaxed))
			rc = 0;
		if (rc < 0)
			break;
	}
	w->counters.completed = done;
	atomic_store(&w->completed, done);
	syscall(SYS_futex, &w->completed, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	return rc < 0 ? rc : 0;
}

/* Receive until `target` messages came. 0, -EINTR when told to stop, or another negative errno. */
ALWAYS int receive(struct worker *w, const bool event, const bool check, uint64_t target, uint64_t *received)
{
	struct TRANSPORT *t = (struct TRANSPORT *)w->transport;
	const struct oneway_settings *s = w->settings;
	const uint32_t messages = w->messages;
	int64_t *const t_recv = w->column[ONEWAY_T_RECV];
	uint64_t n = *received;
	uint32_t rounds = 0, seq = 0;
	int rc = 0;

	while (n < target) {
		rc = T(poll_recv)(t, &seq);
		if (likely(rc > 0)) {
			int64_t stamp = T(end)(t);

			if (likely(seq < messages))
				t_recv[seq] = stamp;
			else
				w->counters.overflows++;
			if (check && seq < messages && !payload_is_right(T(recv_buffer)(t), (size_t)s->size, seq))
				w->counters.bad_payloads++;
			rc = T(release)(t);
			if (!likely(rc == 0))
				break;
			if (event)
				T(kick_send)(t);
			n++;
			continue;
		}
		if (rc < 0)
			break;
		if (event) {
			atomic_store_explicit(&w->progress, n, memory_order_relaxed);
			rc = atomic_load_explicit(&w->stop, memory_order_relaxed) ? -EINTR : T(wait_recv)(t);
			if (rc == -EINTR && !atomic_load_explicit(&w->stop, memory_order_relaxed))
				rc = 0;
			if (rc < 0)
				break;
		} else if (idle(w, &rounds, n)) {
			rc = -EINTR;
			break;
		}
	}
	*received = n;
	atomic_store(&w->progress, n);
	return rc < 0 ? rc : 0;
}

static int sink(struct worker *w)
{
	const struct oneway_settings *s = w->settings;
	uint64_t received = 0, different = 0, target = w->messages;
	int rc;

	/* Duplicates are found afterwards, not in the loop: each makes the loop end one message early, so it goes on.
	 */
	do {
		if (w->poll == POLL_EVENT)
			rc = s->check ? receive(w, true, true, target, &received)
				      : receive(w, true, false, target, &received);
		else
			rc = s->check ? receive(w, false, true, target, &received)
				      : receive(w, false, false, target, &received);
		different = 0;
		for (uint32_t i = 0; i < w->messages; i++)
			different += w->column[ONEWAY_T_RECV][i] != INT64_MIN;
		target = received + w->messages - different;
	} while (!rc && different < w->messages);
	w->counters.received = (int64_t)received;
	w->counters.duplicates = (int64_t)(received - different) - w->counters.overflows;
	return rc == -EINTR ? 0 : rc;
}

const struct kernel_loops INSTANCE(oneway_loops);
const struct kernel_loops INSTANCE(oneway_loops) = {source, completions, sink};
