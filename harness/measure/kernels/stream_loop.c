/*
 * The loops of `stream`. A side consists of what it sends (struct stream_out) and what it receives
 * (struct stream_in); one thread does both, and with `both` in one loop. Nothing happens between a
 * stamp and its post. Completions are polled after each post, so that they are seen soon; if
 * several are seen at once, they share a stamp.
 */
#include "measure/instrument/arrivals.h"
#include "measure/kernels/loop.h"
#include "measure/kernels/stream.h"

/* Choices made at set-up, constant in each instance. */
enum {
	STREAM_SLEEPS = 1, /* either side may sleep */
	STREAM_CHECKS = 2, /* payloads are filled and checked */
	STREAM_BLOCKS = 4, /* messages share stamps */
	STREAM_SPACED = 8, /* messages are posted in lists, or not all are signalled */
	STREAM_BOTH = 16,
};

/* A side that is never idle checks the stop flag and publishes its progress every so many turns: as many as take
 * STREAM_LOOK_NS, at most STREAM_LOOK_EVERY. A turn takes from nanoseconds to, where a device is software and messages
 * are large, 10 ms and more. */
#define STREAM_LOOK_EVERY 8192
#define STREAM_LOOK_FIRST 64
#define STREAM_LOOK_NS	  20000000

struct stream_looks {
	uint32_t left, every; /* turns */
	int64_t at;	      /* the last stamp at the last look */
};

struct stream_out {
	int64_t *t_subm, *t_comp;
	uint32_t posted, done, target; /* messages */
	uint32_t block;		       /* messages per entry */
	uint32_t subm, comp;	       /* the next entry of each, with blocks: */
	uint32_t subm_at, comp_at;     /* its first message; the number of messages that completes it */
	bool is_tried;		       /* the next message has been stamped, but not posted yet */
	bool is_marked, is_mark_done;  /* the end mark was posted; it was completed */
	struct signals signals;
	int64_t stamp; /* the last stamp of either kind */
	int64_t deadline;
};

struct stream_in {
	uint32_t target;
	uint64_t received; /* total number of messages */
	int64_t first, last;
	bool is_last_known;
	bool is_ended; /* the other side's end mark has arrived */
	struct arrivals arrivals;
};

/* Both directions of a side. */
struct stream_side {
	struct stream_out out;
	struct stream_in in;
	bool begins; /* it sends first; otherwise it waits for the other side's first message */
};

static void stream_open(struct stream_side *side, const struct worker *w, enum role role)
{
	const struct stream_settings *s = w->settings;
	const bool is_source = role == ROLE_SOURCE;

	side->out = (struct stream_out){
	    .t_subm = w->column[is_source ? STREAM_T_SUBM : STREAM_T_SUBM_BACK],
	    .t_comp = w->column[is_source ? STREAM_T_COMP : STREAM_T_COMP_BACK],
	    .target = w->messages,
	    .block = (uint32_t)s->stamp_every,
	    .comp_at = (uint32_t)s->stamp_every,
	    .signals = signals_of(w),
	};
	side->in = (struct stream_in){.target = w->messages, .is_last_known = true};
	side->begins = is_source;
}

static __attribute__((noinline)) uint32_t stream_look_every(const struct worker *w, uint32_t every, int64_t ticks)
{
	if (ticks > clock_from_ns(&w->clock, STREAM_LOOK_NS))
		return every > 1 ? every / 2 : 1;
	return every < STREAM_LOOK_EVERY ? every * 2 : every;
}

/* `stamp`: the last one that was taken; 0: none yet. */
static inline struct stream_looks stream_looks_from(int64_t stamp)
{
	return (struct stream_looks){.left = STREAM_LOOK_FIRST, .every = STREAM_LOOK_FIRST, .at = stamp};
}

/* After a turn in which something happened; `stamp`: the last one that was taken. */
ALWAYS int stream_look(struct worker *w, struct stream_looks *looks, int64_t stamp, uint64_t progress)
{
	if (likely(--looks->left))
		return 0;
	looks->left = looks->every = stream_look_every(w, looks->every, stamp - looks->at);
	looks->at = stamp;
	return must_end(w, progress) ? -EINTR : 0;
}

/* --- sending --- */

ALWAYS void stream_begin_clock(struct worker *w, struct TRANSPORT *t, struct stream_out *o)
{
	const struct stream_settings *s = w->settings;

	o->stamp = T(begin)(t);
	o->deadline = s->duration ? o->stamp + clock_from_ns(&w->clock, s->duration) : INT64_MAX;
}

/* Is one of these messages the first of a block, which is stamped? */
ALWAYS bool stream_is_stamped(const struct stream_out *o, const unsigned choices, uint32_t first, uint32_t count)
{
	return !(choices & STREAM_BLOCKS) || o->subm_at < first + count;
}

ALWAYS void stream_keep_submission(struct stream_out *o, const unsigned choices, uint32_t seq, int64_t stamp)
{
	o->stamp = stamp;
	if (!(choices & STREAM_BLOCKS)) {
		o->t_subm[seq] = stamp;
	} else if (seq == o->subm_at) {
		o->t_subm[o->subm++] = stamp;
		o->subm_at += o->block;
	}
}

ALWAYS void stream_fill(struct worker *w, struct TRANSPORT *t, const unsigned choices, uint32_t seq)
{
	const struct stream_settings *s = w->settings;

	if (choices & STREAM_CHECKS)
		payload_fill(T(send_buffer)(t, seq), (size_t)s->size - t->base.overhead, seq);
}

/* The last message requests a completion in any case, because the loop waits for it. */
ALWAYS bool stream_wants_signal(struct stream_out *o, const unsigned choices, uint32_t seq)
{
	return !(choices & STREAM_SPACED) || signals_next(&o->signals) || seq + 1 == o->target;
}

/* A list is posted when it is complete; all of its messages get the stamp taken right before that. */
ALWAYS int stream_post_list(struct worker *w, struct TRANSPORT *t, struct stream_out *o, const unsigned choices,
			    uint32_t count)
{
	const uint32_t first = o->posted;
	const bool is_stamped = stream_is_stamped(o, choices, first, count);
	int64_t stamp = 0;
	int rc;

	for (uint32_t i = 0; i < count; i++) {
		stream_fill(w, t, choices, first + i);
		rc = T(post_more)(t, first + i, stream_wants_signal(o, choices, first + i));
		if (!likely(rc == 0))
			return rc;
	}
	if (is_stamped)
		stamp = T(begin)(t);
	rc = T(flush)(t);
	if (!likely(rc == 0))
		return rc;
	for (uint32_t i = 0; is_stamped && i < count; i++)
		stream_keep_submission(o, choices, first + i, stamp);
	o->posted += count;
	return 1;
}

/* Post one message. If receiving must continue meanwhile, this never waits: 0 if it is not possible now. */
ALWAYS int stream_post_one(struct worker *w, struct TRANSPORT *t, struct stream_out *o, const unsigned choices)
{
	const bool may_refuse = TRANSPORT_POST_WAITS && choices & STREAM_BOTH;
	const uint32_t seq = o->posted;
	const bool is_stamped = stream_is_stamped(o, choices, seq, 1);
	int64_t stamp = 0;
	int rc;

	if (may_refuse && o->is_tried) {
		rc = T(post_try)(t, seq, true);
	} else {
		const bool signal = stream_wants_signal(o, choices, seq);

		stream_fill(w, t, choices, seq);
		if (is_stamped)
			stamp = T(begin)(t);
		rc = may_refuse ? T(post_try)(t, seq, signal) : T(post)(t, seq, signal);
		if (!may_refuse && likely(rc == 0))
			rc = 1;
		if (!likely(rc >= 0))
			return rc;
		if (is_stamped)
			stream_keep_submission(o, choices, seq, stamp);
	}
	if (may_refuse)
		o->is_tried = rc == 0;
	if (rc > 0)
		o->posted = seq + 1;
	return rc;
}

/* Post a message or a list if there is room. 1, 0 if there is no room, or a negative errno. */
ALWAYS int stream_post(struct worker *w, struct TRANSPORT *t, struct stream_out *o, const unsigned choices)
{
	const struct stream_settings *s = w->settings;
	const uint32_t left = o->target - o->posted;
	const uint32_t batch = TRANSPORT_LISTS && choices & STREAM_SPACED ? (uint32_t)s->batch : 1;
	const uint32_t count = left < batch ? left : batch;
	int rc;

	if (!left || o->posted - o->done + count > w->depth)
		return 0;
	if (!likely(o->stamp < o->deadline) && !o->is_tried) {
		/* The time is up: these are the last messages, so their completion is requested. */
		o->target = o->posted + count;
		o->deadline = INT64_MAX;
	}
	rc = batch > 1 ? stream_post_list(w, t, o, choices, count) : stream_post_one(w, t, o, choices);
	if (rc > 0 && choices & STREAM_SLEEPS)
		T(wake_recv)(t);
	return rc;
}

/* Poll completions and stamp them. > 0 if there were some. */
ALWAYS int stream_reap(struct worker *w, struct TRANSPORT *t, struct stream_out *o, const unsigned choices)
{
	uint32_t seq = 0;
	int rc = T(poll_sends)(t, &seq);
	int64_t stamp;

	if (rc <= 0)
		return rc;
	/* With blocks, only the end of a block and the end of all messages are stamped. */
	if (choices & STREAM_BLOCKS && seq + 1 < o->comp_at && seq + 1 < o->target) {
		o->done = seq + 1;
		return rc;
	}
	stamp = T(end)(t);
	if (!likely(seq < o->posted)) {
		if (o->is_marked)
			o->is_mark_done = true;
		else
			w->counters.overflows++;
		return rc;
	}
	if (choices & STREAM_BLOCKS) {
		for (; o->comp_at <= seq + 1; o->comp_at += o->block)
			o->t_comp[o->comp++] = stamp;
	} else {
		for (uint32_t i = o->done; i <= seq; i++)
			o->t_comp[i] = stamp;
	}
	o->done = seq + 1;
	o->stamp = stamp;
	return rc;
}

/* An incomplete block at the end is complete with the last message. */
static void stream_end_out(struct worker *w, struct stream_out *o)
{
	if (o->block > 1 && o->done == o->posted && o->comp < o->subm)
		o->t_comp[o->comp] = o->stamp;
	w->counters.posted = o->posted;
	w->counters.completed = o->done;
}

/* --- receiving --- */

/* 1 if there was a message. */
ALWAYS int stream_take(struct worker *w, struct TRANSPORT *t, struct stream_in *in, const unsigned choices)
{
	const struct stream_settings *s = w->settings;
	uint32_t seq = 0;
	int rc = T(poll_recv)(t, &seq);

	if (!likely(rc > 0)) {
		if (!in->is_last_known) {
			in->last = T(end)(t);
			in->is_last_known = true;
		}
		return rc;
	}
	if (choices & STREAM_BOTH && seq == w->messages) {
		in->is_ended = true;
		return T(release)(t);
	}
	if (!likely(in->received))
		in->first = T(end)(t);
	if (likely(seq < w->messages))
		arrivals_take(&in->arrivals, seq);
	else
		w->counters.overflows++;
	if (choices & STREAM_CHECKS && !payload_is_right(T(recv_buffer)(t), (size_t)s->size - t->base.overhead, seq))
		w->counters.bad_payloads++;
	in->received++;
	in->is_last_known = false;
	rc = T(release)(t);
	if (!likely(rc == 0))
		return rc;
	if (choices & STREAM_SLEEPS)
		T(wake_send)(t);
	return 1;
}

ALWAYS uint64_t stream_different(const struct stream_in *in)
{
	return in->received - in->arrivals.twice;
}

ALWAYS void stream_end_in(struct worker *w, struct TRANSPORT *t, struct stream_in *in)
{
	if (!in->is_last_known)
		in->last = T(end)(t);
	w->counters.received = (int64_t)in->received;
	w->counters.duplicates = (int64_t)in->arrivals.twice;
	w->counters.reordered = (int64_t)in->arrivals.late;
	w->counters.receiving_ns = in->last - in->first; /* still in ticks, like duration_ns */
}

/* --- the loops --- */

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
