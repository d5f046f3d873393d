/*
 * The loops of `stream`. A side consists of what it sends (struct stream_out) and what it receives
 * (struct stream_in); one thread does both, and with `both` in one loop. Nothing happens between a
 * stamp and its post. Completions are polled after each post, so that they are seen soon; if
 * several are seen at once, they share a stamp.
 */
#include "measure/kernels/loop.h"
#include "measure/kernels/stream.h"
#include "measure/kernels/stream_side.h"

/* Nothing can be done until a message completes. */
ALWAYS int stream_await(struct worker *w, struct TRANSPORT *t, const struct stream_out *o, const unsigned choices,
			uint32_t *rounds)
{
	if (idle(w, rounds, o->done))
		return -EINTR;
	if (!(choices & STREAM_SLEEPS) || w->poll_send == POLL_BUSY)
		return 0;
	if (w->poll_send == POLL_ADAPTIVE && T(pause)(t, o->stamp + w->spin_ticks) < o->stamp + w->spin_ticks)
		return 0;
	if (atomic_load_explicit(&w->stop, memory_order_relaxed))
		return -EINTR;
	return unless_stopped(w, T(wait_send)(t));
}

/* For reads and atomics: check the data fetched by those that have completed since. */
ALWAYS void stream_check_fetched(struct worker *w, struct TRANSPORT *t, const unsigned choices, uint32_t from,
				 uint32_t to)
{
	for (uint32_t seq = from; choices & STREAM_CHECKS && seq < to; seq++)
		w->counters.bad_payloads += !T(fetched)(t, seq);
}

ALWAYS int stream_run_one(struct worker *w, void *state, const unsigned choices)
{
	struct TRANSPORT *t = (struct TRANSPORT *)w->transport;
	struct stream_out o = ((struct stream_side *)state)->out;
	uint32_t rounds = 0;
	int rc = 0;

	stream_begin_clock(w, t, &o);
	struct stream_looks looks = stream_looks_from(o.stamp);

	while (o.done < o.target) {
		const uint32_t done = o.done;
		const int posted = stream_post(w, t, &o, choices);
		const int reaped = likely(posted >= 0) ? stream_reap(w, t, &o, choices) : 0;

		rc = posted < 0 ? posted : reaped < 0 ? reaped : 0;
		if (!likely(rc == 0))
			break;
		stream_check_fetched(w, t, choices, done, o.done);
		if (!posted && !reaped)
			rc = stream_await(w, t, &o, choices, &rounds);
		else
			rc = stream_look(w, &looks, o.stamp, o.done);
		if (!likely(rc == 0))
			break;
	}
	stream_end_out(w, &o);
	atomic_store(&w->progress, o.done);
	return rc;
}

/*
 * How a side with both directions knows that everything has arrived: by the number of messages; if
 * a duration ends the repetition, by a mark, which is an extra message that is not counted, and
 * whose number is one above the largest possible; or if messages may be lost, because nothing
 * arrives any more.
 */
enum stream_end { STREAM_BY_NUMBER, STREAM_BY_MARK, STREAM_BY_SILENCE };

static enum stream_end stream_end_of(const struct worker *w)
{
	const struct stream_settings *s = w->settings;

	return w->lossy ? STREAM_BY_SILENCE : s->duration ? STREAM_BY_MARK : STREAM_BY_NUMBER;
}

ALWAYS bool stream_is_over(struct worker *w, struct TRANSPORT *t, const struct stream_out *o,
			   const struct stream_in *in, enum stream_end end)
{
	const int64_t since = o->stamp > in->last ? o->stamp : in->last;

	if (likely(o->done < o->target))
		return false;
	if (end == STREAM_BY_MARK)
		return o->is_mark_done && in->is_ended;
	if (stream_different(in) >= in->target)
		return true;
	return end == STREAM_BY_SILENCE && in->is_last_known && T(pause)(t, since) > since + w->drain_ticks;
}

ALWAYS int stream_mark(struct worker *w, struct TRANSPORT *t, struct stream_out *o)
{
	int rc = T(post_try)(t, w->messages, true);

	if (rc > 0)
		o->is_marked = true;
	return rc;
}

/* Both directions. The sink begins to send when the first message arrives. */
ALWAYS int stream_run_both(struct worker *w, struct stream_side *side, const unsigned choices)
{
	const enum stream_end end = stream_end_of(w);
	struct TRANSPORT *t = (struct TRANSPORT *)w->transport;
	struct stream_in *const in = &side->in;
	struct stream_out o = side->out;
	struct stream_looks looks = stream_looks_from(0);
	uint32_t rounds = 0;
	bool begins = side->begins;
	int rc = 0;

	if (begins)
		stream_begin_clock(w, t, &o);
	while (!begins || !stream_is_over(w, t, &o, in, end)) {
		int posted = 0, reaped = 0, taken;

		if (likely(begins)) {
			posted = stream_post(w, t, &o, choices);
			if (end == STREAM_BY_MARK && o.done == o.target && !o.is_marked)
				posted = stream_mark(w, t, &o);
			reaped = likely(posted >= 0) ? stream_reap(w, t, &o, choices) : 0;
		}
		taken = stream_take(w, t, in, choices);
		rc = posted < 0 ? posted : reaped < 0 ? reaped : taken < 0 ? taken : 0;
		if (!likely(rc == 0))
			break;
		if (!begins && taken) {
			begins = true;
			stream_begin_clock(w, t, &o);
		}
		if (!posted && !reaped && !taken)
			rc = idle(w, &rounds, in->received) ? -EINTR : 0;
		else
			rc = stream_look(w, &looks, o.stamp, in->received);
		if (!likely(rc == 0))
			break;
	}
	stream_end_out(w, &o);
	stream_end_in(w, t, in);
	atomic_store(&w->progress, in->received);
	return rc;
}

ALWAYS int stream_run(struct worker *w, void *state, const unsigned choices)
{
	return choices & STREAM_BOTH ? stream_run_both(w, state, choices) : stream_run_one(w, state, choices);
}

/* With both directions nobody sleeps; only verbs has lists; filling and checking costs more than
 * specialisation saves. */
#define STREAM_CAN_BE(choices)                                                                                         \
	(choices < 2 * STREAM_BOTH && ((choices & (STREAM_BOTH | STREAM_SLEEPS)) != (STREAM_BOTH | STREAM_SLEEPS)) &&  \
	 (TRANSPORT_LISTS || !(choices & STREAM_SPACED)))

LOOP_INSTANCES(stream_run, STREAM_CAN_BE)

static unsigned stream_choices(const struct worker *w)
{
	const struct stream_settings *s = w->settings;

	return (w->poll_recv != POLL_BUSY || w->poll_send != POLL_BUSY ? STREAM_SLEEPS : 0) |
	       (s->check ? STREAM_CHECKS : 0) | (s->stamp_every > 1 ? STREAM_BLOCKS : 0) |
	       (TRANSPORT_LISTS && (s->batch > 1 || w->signal_every > 1) ? STREAM_SPACED : 0) |
	       (s->both && !w->is_passive ? STREAM_BOTH : 0);
}

static int stream_source(struct worker *w)
{
	const struct stream_settings *s = w->settings;
	struct stream_side side;
	int rc;

	stream_open(&side, w, ROLE_SOURCE);
	rc = LOOP_RUN(stream_run, w, &side, stream_choices(w));
	return !rc && s->both && w->is_passive ? serve_until_both_end(w, (struct TRANSPORT *)w->transport) : rc;
}

ALWAYS int stream_receive(struct worker *w, struct stream_in *in, const unsigned choices)
{
	struct TRANSPORT *t = (struct TRANSPORT *)w->transport;
	struct stream_looks looks = stream_looks_from(0);
	uint32_t rounds = 0;
	int rc = 0;

	while (stream_different(in) < in->target) {
		rc = stream_take(w, t, in, choices);
		if (likely(rc > 0))
			rc = stream_look(w, &looks, in->last, in->received);
		else if (rc == 0)
			rc = await_message(w, t, w->poll_recv, &rounds, in->last, in->received);
		if (!likely(rc == 0))
			break;
	}
	stream_end_in(w, t, in);
	atomic_store(&w->progress, in->received);
	return rc;
}

static int stream_sink(struct worker *w)
{
	const struct stream_settings *s = w->settings;
	const unsigned choices = stream_choices(w);
	struct stream_side side;
	int rc;

	if (w->is_passive && !s->both)
		return serve_until_stopped(w, (struct TRANSPORT *)w->transport); /* nobody looks at what arrives */
	stream_open(&side, w, ROLE_SINK);
	if (s->both) /* if nobody looks at what arrives, each side just sends */
		rc = LOOP_RUN(stream_run, w, &side, choices);
	else if (choices & (STREAM_CHECKS | STREAM_SLEEPS))
		rc = stream_receive(w, &side.in, choices);
	else
		rc = stream_receive(w, &side.in, 0);
	if (!rc && s->both && w->is_passive)
		rc = serve_until_both_end(w, (struct TRANSPORT *)w->transport);
	return rc == -EINTR ? 0 : rc;
}

const struct kernel_loops INSTANCE(stream_loops);
const struct kernel_loops INSTANCE(stream_loops) = {
    .loop = {[STREAM_SOURCE] = stream_source, [STREAM_SINK] = stream_sink}};
