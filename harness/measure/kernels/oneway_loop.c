/*
 * The loops of `oneway`. A message costs the harness one stamp and one store per side and column;
 * nothing else is between a stamp and the event that it stamps.
 */
#include "measure/kernels/loop.h"
#include "measure/kernels/oneway.h"

/* Choices of the source made at set-up, constant in each instance of its loop. */
enum {
	SOURCE_SLEEPS = 1, /* another thread handles send completions */
	SOURCE_WAKES = 2,  /* the sink may sleep */
	SOURCE_FILLS = 4,  /* every payload is filled so that it can be checked */
	SOURCE_SPACED =
	    8, /* there is a gap between posts, or not every message is signalled: more work between two posts */
	SOURCE_STAMPED = 16, /* the device stamps completions, too */
	SOURCE_STAGED = 32,  /* the kernel stamps messages on their way */
};

/* Poll one send completion and stamp it; *done counts messages, in order. 1, 0, or a negative errno. */
ALWAYS int oneway_reap(struct worker *w, struct TRANSPORT *t, const unsigned choices, uint32_t *done)
{
	const bool stamped = choices & SOURCE_STAMPED;
	uint32_t seq = 0;
	uint64_t device = 0;
	int rc = stamped ? T(poll_send_stamped)(t, &seq, &device) : T(poll_send)(t, &seq);

	if (rc > 0) {
		int64_t stamp = T(end)(t);

		if (likely(seq < w->messages)) {
			w->column[ONEWAY_T_COMP][seq] = stamp;
			if (stamped)
				w->column[ONEWAY_T_HW_COMP][seq] = (int64_t)device;
			*done = seq + 1;
		} else {
			w->counters.overflows++;
		}
	}
	return rc;
}

/* The posting thread sleeps until the completion thread has seen `want` messages completed. */
static int oneway_sleep_until_completed(struct worker *w, uint32_t want)
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

/* Wait until at most `in_flight` of the `posted` messages are incomplete. The end of the wait is
 * marked as likely, however often it spins, so that the code between a stamp and its post gets the
 * registers. */
ALWAYS int oneway_drain(struct worker *w, struct TRANSPORT *t, const unsigned choices, uint32_t posted,
			uint32_t in_flight, uint32_t *done)
{
	uint32_t rounds = 0;

	if (choices & SOURCE_SLEEPS) {
		int rc = oneway_sleep_until_completed(w, posted - in_flight);

		*done = atomic_load_explicit(&w->completed, memory_order_relaxed);
		return rc;
	}
	while (!likely(posted - *done <= in_flight)) {
		int rc = oneway_reap(w, t, choices, done);

		if (rc < 0)
			return rc;
		if (rc == 0 && idle(w, &rounds, posted))
			return -EINTR;
	}
	return 0;
}

/* Wait until `until`: busily while polling completions, so that the CPU stays awake; or asleep, as
 * a thread that waits for events would. */
ALWAYS int oneway_rest(struct worker *w, struct TRANSPORT *t, const unsigned choices, int64_t until, int64_t pause_ns,
		       uint32_t posted, uint32_t *done)
{
	uint32_t rounds = 0;

	if (w->rests_asleep && pause_ns) {
		struct timespec ts = {pause_ns / 1000000000, pause_ns % 1000000000};

		atomic_store_explicit(&w->progress, posted, memory_order_relaxed);
		while (nanosleep(&ts, &ts) && errno == EINTR)
			if (atomic_load_explicit(&w->stop, memory_order_relaxed))
				return -EINTR;
		return 0;
	}
	while (!likely(T(pause)(t, until) >= until)) {
		int rc = choices & SOURCE_SLEEPS ? 0 : oneway_reap(w, t, choices, done);

		if (rc < 0)
			return rc;
		if (rc == 0 && idle(w, &rounds, posted))
			return -EINTR;
	}
	return 0;
}

/* Must the device report the completion of this message? Always for the last message of a burst,
 * because the loop waits for it. */
ALWAYS bool oneway_wants_signal(struct signals *signals, const bool spaced, uint32_t seq, uint32_t end)
{
	return !spaced || signals_next(signals) || seq + 1 == end;
}

ALWAYS int oneway_run_source(struct worker *w, void *state, const unsigned choices)
{
	const bool sleeps = choices & SOURCE_SLEEPS, spaced = choices & SOURCE_SPACED;
	struct TRANSPORT *t = (struct TRANSPORT *)w->transport;
	const struct oneway_settings *s = w->settings;
	const uint32_t messages = w->messages, depth = w->depth;
	const uint32_t burst = s->burst < messages ? (uint32_t)s->burst : messages;
	const int64_t pause_ns = w->is_warm_up ? 0 : s->pause, pause_ticks = clock_from_ns(&w->clock, pause_ns);
	const int64_t gap_ticks = clock_from_ns(&w->clock, s->gap);
	int64_t *const t_subm = w->column[ONEWAY_T_SUBM];
	struct signals signals = signals_of(w);
	uint32_t seq = 0, done = 0;
	int rc = 0;

	(void)state;
	while (seq < messages) {
		const uint32_t end = messages - seq < burst ? messages : seq + burst;

		while (seq < end) {
			if (!likely(seq - done < depth)) {
				rc = oneway_drain(w, t, choices, seq, depth - 1, &done);
				if (rc)
					goto out;
			}
			if (choices & SOURCE_FILLS)
				payload_fill(T(send_buffer)(t, seq), (size_t)s->size - t->base.overhead, seq);

			const bool signal = oneway_wants_signal(&signals, spaced, seq, end);
			int64_t stamp = T(begin)(t);

			rc = T(post)(t, seq, signal);
			if (!likely(rc == 0))
				goto out;
			if (choices & SOURCE_WAKES)
				T(wake_recv)(t);
			t_subm[seq++] = stamp;
			gap_log_post(w);
			if (choices & SOURCE_STAGED)
				T(take_stages)(t);
			if (!sleeps) {
				rc = oneway_reap(w, t, choices, &done);
				if (!likely(rc >= 0))
					goto out;
			}
			if (spaced && gap_ticks && seq < end) {
				rc = oneway_rest(w, t, choices, stamp + gap_ticks, 0, seq, &done);
				if (rc)
					goto out;
			}
		}
		rc = oneway_drain(w, t, choices, seq, 0, &done);
		if (!rc && pause_ns && seq < messages)
			rc = oneway_rest(w, t, choices, T(begin)(t) + pause_ticks, pause_ns, seq, &done);
		if (rc)
			goto out;
	}
out:
	w->counters.posted = seq;
	if (!sleeps)
		w->counters.completed = done;
	atomic_store(&w->progress, seq);
	atomic_store(&w->restamp_stop, 1);
	return rc < 0 ? rc : 0;
}

#define SOURCE_CAN_BE(choices)                                                                                         \
	(choices < 2 * SOURCE_STAMPED && (TRANSPORT_WAKES || !(choices & SOURCE_WAKES)) &&                             \
	 (TRANSPORT_STAMPS || !(choices & SOURCE_STAMPED)))

LOOP_INSTANCES(oneway_run_source, SOURCE_CAN_BE)

ALWAYS unsigned oneway_source_choices(const struct worker *w)
{
	const struct oneway_settings *s = w->settings;

	return (w->poll_send != POLL_BUSY ? SOURCE_SLEEPS : 0) |
	       (TRANSPORT_WAKES && w->poll_recv != POLL_BUSY ? SOURCE_WAKES : 0) | (s->check ? SOURCE_FILLS : 0) |
	       (s->gap || w->signal_every > 1 ? SOURCE_SPACED : 0) | (TRANSPORT_STAMPS && s->t_hw ? SOURCE_STAMPED : 0);
}

static __attribute__((noinline)) int oneway_source_plain(struct worker *w)
{
	const unsigned choices = oneway_source_choices(w);

	return LOOP_RUN(oneway_run_source, w, NULL, choices);
}

/* A function of its own, so that the loop without stages does not depend on it. */
static int oneway_source(struct worker *w)
{
#if TRANSPORT_STAGES
	const struct oneway_settings *s = w->settings;

	if (s->stages)
		return oneway_run_source(w, NULL, oneway_source_choices(w) | SOURCE_STAGED);
#endif
	return oneway_source_plain(w);
}

/* If the source sleeps until completions arrive: only this thread handles them. */
ALWAYS int oneway_run_completions(struct worker *w, const unsigned choices)
{
	struct TRANSPORT *t = (struct TRANSPORT *)w->transport;
	const bool adaptive = w->poll_send == POLL_ADAPTIVE;
	int64_t since = T(begin)(t);
	uint32_t done = 0, rounds = 0;
	int rc = 0;

	while (done < w->messages) {
		rc = oneway_reap(w, t, choices, &done);
		if (rc < 0)
			break;
		if (rc > 0) {
			since = T(begin)(t);
			continue;
		}
		if (atomic_load(&w->completed) != done) {
			atomic_store(&w->completed, done);
			syscall(SYS_futex, &w->completed, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
		}
		if (adaptive && T(pause)(t, since + w->spin_ticks) < since + w->spin_ticks)
			rc = idle(w, &rounds, 0) ? -EINTR : 0;
		else
			rc = unless_stopped(w, T(wait_send)(t));
		if (rc < 0)
			break;
	}
	w->counters.completed = done;
	atomic_store(&w->completed, done);
	syscall(SYS_futex, &w->completed, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	return rc < 0 ? rc : 0;
}

static int oneway_completions(struct worker *w)
{
	const struct oneway_settings *s = w->settings;

	return TRANSPORT_STAMPS && s->t_hw ? oneway_run_completions(w, SOURCE_STAMPED) : oneway_run_completions(w, 0);
}

/* t_send as in the thesis: whenever the device reads the payload, it finds a time that is a few
 * nanoseconds old. */
static int oneway_restamp(struct worker *w)
{
	struct TRANSPORT *t = (struct TRANSPORT *)w->transport;
	volatile int64_t *buffer = T(send_buffer)(t, 0);

	while (!atomic_load_explicit(&w->restamp_stop, memory_order_relaxed) &&
	       !atomic_load_explicit(&w->stop, memory_order_relaxed))
		*buffer = T(begin)(t);
	return 0;
}

/* What the sink does in addition to receiving. */
enum { SINK_CHECKS = RECEPTION_OWN, SINK_T_SEND = RECEPTION_OWN2 };

#define RECEPTION_COLUMN	ONEWAY_T_RECV
#define RECEPTION_DEVICE_COLUMN oneway_device_column
#define RECEPTION_CHOICES	oneway_reception_choices
#define RECEPTION_TAKE		oneway_reception_take
/* t_send changes what is checked. */
#define RECEPTION_CAN_BE(choices) ((choices & (SINK_CHECKS | SINK_T_SEND)) != (SINK_CHECKS | SINK_T_SEND))

static unsigned oneway_reception_choices(const struct worker *w)
{
	const struct oneway_settings *s = w->settings;

	return (s->check ? SINK_CHECKS : 0) | (s->t_send ? SINK_T_SEND : 0) |
	       (s->t_hw || s->stages ? RECEPTION_STAMPED : 0);
}

static unsigned oneway_device_column(const struct worker *w)
{
	return ((const struct oneway_settings *)w->settings)->stages ? ONEWAY_T_DRIVER : ONEWAY_T_HW;
}

ALWAYS int oneway_reception_take(struct worker *w, struct TRANSPORT *t, uint32_t seq, const unsigned choices)
{
	const struct oneway_settings *s = w->settings;

	if (choices & SINK_T_SEND)
		w->column[ONEWAY_T_SEND][seq] = *(const int64_t *)T(recv_buffer)(t);
	if ((choices & SINK_CHECKS) && !payload_is_right(T(recv_buffer)(t), (size_t)s->size - t->base.overhead, seq))
		w->counters.bad_payloads++;
	return 0;
}

#include "measure/kernels/reception.h"

/* The device read the payload before the sink received it, so a later stamp belongs to another message. */
static int oneway_sink(struct worker *w)
{
	const int64_t *const t_send = w->column[ONEWAY_T_SEND], *const t_recv = w->column[ONEWAY_T_RECV];
	int rc = reception_sink(w);

	for (uint32_t i = 0; t_send && !w->has_two_clocks && i < w->messages; i++)
		w->counters.overwritten_stamps += t_recv[i] != w->blank && t_send[i] > t_recv[i];
	return rc;
}

const struct kernel_loops INSTANCE(oneway_loops);
const struct kernel_loops INSTANCE(oneway_loops) = {.loop = {[ONEWAY_COMPLETIONS] = oneway_completions,
							     [ONEWAY_RESTAMP] = oneway_restamp,
							     [ONEWAY_SOURCE] = oneway_source,
							     [ONEWAY_SINK] = oneway_sink}};
