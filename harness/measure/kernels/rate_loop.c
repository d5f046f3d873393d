/*
 * The loops of `rate`. Between the time of a step and the stamp before its post, the sample's
 * header is written and, if the pacer sleeps, the kernel returns to user space. Send completions
 * are polled once after each post, and while there is time until the next step.
 */
#include "measure/instrument/sample_file.h"
#include "measure/kernels/loop.h"
#include "measure/kernels/rate.h"
#include "measure/kernels/sample.h"

/* From this long before a step, the source only watches the clock. */
#define ALERT_NS 1000

/* Choices of the source made at set-up. */
enum {
	SOURCE_SLEEPS = 1, /* the pacer sleeps until a step is due */
	SOURCE_CHECKS = 2, /* every sample is filled so that it can be checked */
	SOURCE_WAKES = 4,  /* the sink may sleep */
	SOURCE_WRITES = 8, /* every posted sample is written to a file, synchronously */
};

/* The state of the source's loop. */
struct rate_run {
	uint32_t seq;		 /* step */
	uint32_t posted, done;	 /* numbers of samples; done: whose send completion was polled */
	uint32_t signalled;	 /* posted samples, up to the last one that requested a completion */
	uint32_t reaped;	 /* steps below this one are done, if they were posted at all */
	int64_t due, now;	 /* of the current step: when it is due, and when the pacer reached it */
	bool keeps_first;	 /* of several steps due at once, the first is sent rather than the last */
	uint32_t first;		 /* if sleeping: the first of these */
	int64_t passed;		 /* if sleeping: the number of steps missed after the one that is sent */
	int64_t alert, deadline; /* ticks */
	struct signals signals;
	struct grid_of_ticks grid;
	struct sleeper sleeper;
};

/* Poll one send completion; it also completes all samples posted earlier. 1, 0, or a negative errno. */
ALWAYS int rate_reap(struct worker *w, struct TRANSPORT *t, struct rate_run *c)
{
	const int64_t *const t_subm = w->column[RATE_T_SUBM];
	uint32_t seq = 0;
	int rc = T(poll_send)(t, &seq);

	if (rc <= 0)
		return rc;
	if (!likely(seq < w->messages))
		w->counters.overflows++;
	else
		while (c->reaped <= seq)
			c->done += t_subm[c->reaped++] != w->blank;
	return rc;
}

/* Wait until `done` samples are done. */
ALWAYS int rate_drain(struct worker *w, struct TRANSPORT *t, struct rate_run *c, uint32_t done)
{
	uint32_t rounds = 0;

	while ((int32_t)(done - c->done) > 0) {
		int rc = rate_reap(w, t, c);

		if (rc < 0)
			return rc;
		if (rc == 0 && idle(w, &rounds, c->seq))
			return -EINTR;
	}
	return 0;
}

ALWAYS void rate_miss(struct worker *w, struct rate_run *c)
{
	w->counters.missed++;
	c->seq++;
}

/* Steps that were due before the pacer woke up are missed, except for the last one. */
static void rate_skip_to_last(struct worker *w, struct rate_run *c)
{
	while (c->now >= c->grid.due && c->seq < w->messages && c->due <= c->deadline) {
		w->column[RATE_T_DUE][c->seq] = c->due;
		rate_miss(w, c);
		c->due = grid_take(&c->grid);
	}
}

/* Likewise for the steps after the first one, which was sent. */
static void rate_pass_over(struct worker *w, struct rate_run *c)
{
	while (c->now >= c->grid.due && c->seq < w->messages) {
		w->column[RATE_T_DUE][c->seq] = grid_take(&c->grid);
		rate_miss(w, c);
	}
}

/* Spin until the next step is due; just before it without relaxing the CPU, which would see the step later. */
ALWAYS int rate_spin(struct worker *w, struct TRANSPORT *t, struct rate_run *c)
{
	uint32_t rounds = 0;

	c->due = grid_take(&c->grid);
	while ((c->now = T(pause)(t, c->due)) < c->due - c->alert) {
		int rc = rate_reap(w, t, c);

		if (rc < 0)
			return rc;
		if (rc == 0 && idle(w, &rounds, c->seq))
			return -EINTR;
	}
	while (c->now < c->due)
		c->now = T(begin)(t);
	if (!likely(c->now < c->grid.due) && !c->keeps_first)
		rate_skip_to_last(w, c);
	return 0;
}

/* Sleep until the next step is due. The times of steps are recorded after the post, because that
 * takes divisions. */
ALWAYS int rate_sleep_until_due(struct worker *w, struct rate_run *c)
{
	int64_t steps = sleeper_wait(&c->sleeper);

	if (steps < 0)
		return (int)steps;
	c->now = c->sleeper.ticks;
	c->first = c->seq;
	c->passed = c->keeps_first ? steps - 1 : 0;
	while (!c->keeps_first && steps-- > 1 && c->seq < w->messages)
		rate_miss(w, c);
	/* Steps that were due after the end of the window were not missed. */
	while (!likely(c->now <= c->deadline) && c->seq > c->first &&
	       sleeper_due(&c->sleeper, c->seq - 1) > c->deadline) {
		w->counters.missed--;
		c->seq--;
	}
	return 0;
}

static void rate_note_times(struct worker *w, struct rate_run *c, uint32_t end)
{
	for (; c->first < end; c->first++)
		w->column[RATE_T_DUE][c->first] = sleeper_due(&c->sleeper, c->first);
}

/* Fill in the values of a sample; without checks, any values are suitable. */
ALWAYS void rate_fill(struct worker *w, struct sample *s, uint32_t seq, const bool checks, uint64_t *random)
{
	const struct rate_settings *settings = w->settings;

	if (checks)
		payload_fill(sample_values(s), (size_t)settings->values * sizeof(double), seq);
	else
		sample_fill(s, (uint32_t)settings->values, random);
}

ALWAYS bool rate_is_full(const struct worker *w, const struct rate_run *c)
{
	return c->posted - c->done >= w->depth;
}

/* Post the sample of the current step. 0 or a negative errno. */
ALWAYS int rate_send_sample(struct worker *w, struct TRANSPORT *t, struct rate_run *c, struct sample *s,
			    const unsigned choices)
{
	const struct rate_settings *settings = w->settings;
	const bool signal = signals_next(&c->signals) || c->seq + 1 == w->messages;

	sample_head(s, c->seq, clock_to_ns(&w->clock, c->now), (uint32_t)settings->values);

	int64_t stamp = T(begin)(t);
	int rc = T(post)(t, c->seq, signal);

	if (!likely(rc == 0))
		return rc;
	if (choices & SOURCE_WAKES)
		T(wake_recv)(t);
	w->column[RATE_T_SUBM][c->seq] = stamp;
	w->column[RATE_T_GEN][c->seq] = c->now;
	c->posted++;
	if (signal)
		c->signalled = c->posted;
	if (choices & SOURCE_WRITES)
		return sample_text_put(w->side, c->seq, s->origin_ns, sample_values(s), s->count);
	return 0;
}

/* The step that is due now is sent, or left unsent. `prepared`: its values are already in its buffer. */
ALWAYS int rate_take_step(struct worker *w, struct TRANSPORT *t, struct rate_run *c, const bool prepared,
			  uint64_t *random, const unsigned choices)
{
	const struct rate_settings *settings = w->settings;
	struct sample *s;

	if (!likely(!rate_is_full(w, c))) {
		if (settings->full == RATE_SKIP) {
			w->counters.unsent++;
			return 0;
		}
		int rc = rate_drain(w, t, c, c->posted - w->depth + 1);

		if (rc)
			return rc;
	}
	s = T(send_buffer)(t, c->seq);
	if (!likely(prepared))
		rate_fill(w, s, c->seq, choices & SOURCE_CHECKS, random);
	return rate_send_sample(w, t, c, s, choices);
}

/* The current step has been taken: record its times, and those of the steps skipped. */
ALWAYS void rate_end_step(struct worker *w, struct rate_run *c, const bool sleeps)
{
	c->seq++;
	if (sleeps) {
		for (; c->passed && c->seq < w->messages; c->passed--)
			rate_miss(w, c);
		rate_note_times(w, c, c->seq);
		return;
	}
	w->column[RATE_T_DUE][c->seq - 1] = c->due;
	if (!likely(c->now < c->grid.due))
		rate_pass_over(w, c);
}

/* Advance from one step to the next. 0; 1: there are no further steps; or a negative errno. */
ALWAYS int rate_step(struct worker *w, struct TRANSPORT *t, struct rate_run *c, uint64_t *random,
		     const unsigned choices)
{
	const bool sleeps = choices & SOURCE_SLEEPS;
	const uint32_t prepared = c->seq;
	const bool early = !rate_is_full(w, c);
	int rc;

	/* While there is time, but not in a buffer that may still be read. */
	if (likely(early))
		rate_fill(w, T(send_buffer)(t, prepared), prepared, choices & SOURCE_CHECKS, random);
	atomic_store_explicit(&w->progress, c->seq, memory_order_relaxed);
	if (!likely(!atomic_load_explicit(&w->stop, memory_order_relaxed)))
		return -EINTR;
	rc = sleeps ? unless_stopped(w, rate_sleep_until_due(w, c)) : rate_spin(w, t, c);
	if (rc < 0)
		return rc;
	if (sleeps && !likely(c->sleeper.next > c->seq))
		return 0; /* a signal, but no step yet */
	if (!likely(c->seq < w->messages && c->now <= c->deadline))
		return 1;
	rc = rate_take_step(w, t, c, early && c->seq == prepared, random, choices);
	if (!likely(rc == 0))
		return rc;
	rate_end_step(w, c, sleeps);
	rc = rate_reap(w, t, c);
	return rc < 0 ? rc : 0;
}

/* The time is up: the remaining steps are recorded with their due times nevertheless. */
static void rate_leave_unsent(struct worker *w, struct rate_run *c, bool asleep)
{
	w->counters.unsent += w->messages - c->seq;
	if (asleep)
		rate_note_times(w, c, w->messages);
	for (; !asleep && c->seq < w->messages; c->seq++) {
		w->column[RATE_T_DUE][c->seq] = c->due;
		c->due = grid_take(&c->grid);
	}
	c->seq = w->messages;
}

ALWAYS int rate_run_source(struct worker *w, void *state, const unsigned choices)
{
	struct rate_run *c = state;
	struct TRANSPORT *t = (struct TRANSPORT *)w->transport;
	uint64_t random = UINT64_C(0x9e3779b97f4a7c15);
	int rc = 0;

	while (rc == 0 && c->seq < w->messages)
		rc = rate_step(w, t, c, &random, choices);
	if (rc > 0) {
		rate_leave_unsent(w, c, choices & SOURCE_SLEEPS);
		rc = 0;
	}
	return rc ? rc : rate_drain(w, t, c, c->signalled);
}

static void rate_start(struct worker *w, struct rate_run *c)
{
	const struct rate_settings *s = w->settings;
	struct TRANSPORT *t = (struct TRANSPORT *)w->transport;
	int64_t start = T(begin)(t);

	c->alert = clock_from_ns(&w->clock, ALERT_NS);
	c->deadline = INT64_MAX;
	if (s->window)
		c->deadline = start + clock_from_ns(&w->clock, (int64_t)((__int128)w->messages * 1000000000 / s->rate) +
								   s->window);
	grid_start(&c->grid, start, s->rate, s->tick_error, &w->clock);
}

#define SOURCE_CAN_BE(choices)                                                                                         \
	(choices < 2 * SOURCE_WRITES && (TRANSPORT_WAKES || !(choices & SOURCE_WAKES)) &&                              \
	 !(choices & SOURCE_CHECKS && choices & SOURCE_WRITES))

LOOP_INSTANCES(rate_run_source, SOURCE_CAN_BE)

static int rate_choose_source(struct worker *w, struct rate_run *c)
{
	const struct rate_settings *s = w->settings;

	const unsigned choices = (s->pacer != PACER_TICKS ? SOURCE_SLEEPS : 0) | (s->check ? SOURCE_CHECKS : 0) |
				 (TRANSPORT_WAKES && w->poll_recv != POLL_BUSY ? SOURCE_WAKES : 0) |
				 (w->side ? SOURCE_WRITES : 0);

	return LOOP_RUN(rate_run_source, w, c, choices);
}

static int rate_source(struct worker *w)
{
	const struct rate_settings *s = w->settings;
	struct rate_run c = {.signals = signals_of(w), .keeps_first = s->late == RATE_LATE_FIRST};
	int rc = 0;

	rate_start(w, &c);
	if (s->pacer != PACER_TICKS)
		rc = sleeper_open(&c.sleeper, (enum pacer)s->pacer, s->rate, &w->clock);
	if (!rc)
		rc = rate_choose_source(w, &c);
	if (s->pacer != PACER_TICKS)
		sleeper_close(&c.sleeper);
	w->counters.posted = c.posted;
	w->counters.completed = c.done;
	atomic_store(&w->progress, c.seq);
	return rc;
}

#define RECEPTION_COLUMN	  RATE_T_RECV
#define RECEPTION_CHOICES	  rate_reception_choices
#define RECEPTION_CAN_BE(choices) true
#define RECEPTION_TAKE		  rate_reception_take

enum { SINK_CHECKS = RECEPTION_OWN, SINK_STORES = RECEPTION_OWN2 };

static unsigned rate_reception_choices(const struct worker *w)
{
	const struct rate_settings *s = w->settings;

	return (s->check ? SINK_CHECKS : 0) | (w->side ? SINK_STORES : 0);
}

ALWAYS int rate_reception_take(struct worker *w, struct TRANSPORT *t, uint32_t seq, const unsigned choices)
{
	const struct rate_settings *s = w->settings;

	if ((choices & SINK_CHECKS) && !sample_is_right(T(recv_buffer)(t), seq, (uint32_t)s->values))
		w->counters.bad_payloads++;
	if (choices & SINK_STORES)
		return sample_file_put(w->side, T(recv_buffer)(t), sample_size(s->values));
	return 0;
}

#include "measure/kernels/reception.h"

const struct kernel_loops INSTANCE(rate_loops);
const struct kernel_loops INSTANCE(rate_loops) = {.loop = {[RATE_SOURCE] = rate_source, [RATE_SINK] = reception_sink}};
