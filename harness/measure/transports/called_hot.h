/*
 * The hot path of all transports that are called: loops compiled for this one call the functions of the transport's own
 * table (struct transport_ops).
 */
#ifndef KBLAT_TRANSPORTS_CALLED_HOT_H
#define KBLAT_TRANSPORTS_CALLED_HOT_H

#include "measure/instrument/clock.h"
#include "measure/transports/transport.h"

struct called {
	struct transport base;
};

#ifndef LOOP_ONE_INSTANCE
#define LOOP_ONE_INSTANCE /* specialising loops would gain nothing */
#endif
#define TRANSPORT_POST_WAITS  1
#define TRANSPORT_LISTS	      1
#define TRANSPORT_POLLS_MANY  1
#define TRANSPORT_POSTS_EMPTY 1
#define TRANSPORT_STAMPS      1
#define TRANSPORT_STAGES      1

static inline int64_t called_begin(struct called *t)
{
	return likely(!t->base.ops->begin) ? clock_ticks_begin() : t->base.ops->begin(&t->base);
}

static inline int64_t called_end(struct called *t)
{
	return likely(!t->base.ops->end) ? clock_ticks_end() : t->base.ops->end(&t->base);
}

static inline int64_t called_pause(struct called *t, int64_t until)
{
	if (!likely(!t->base.ops->pause))
		return t->base.ops->pause(&t->base, until);
	cpu_relax();
	return clock_ticks_begin();
}

static inline void *called_send_buffer(struct called *t, uint32_t seq)
{
	return t->base.ops->send_buffer(&t->base, seq);
}

static inline int called_post(struct called *t, uint32_t seq, bool signal)
{
	return t->base.ops->post(&t->base, seq, signal);
}

static inline int called_post_try(struct called *t, uint32_t seq, bool signal)
{
	int rc;

	if (t->base.ops->post_try)
		return t->base.ops->post_try(&t->base, seq, signal);
	rc = called_post(t, seq, signal);
	return rc ? rc : 1;
}

static inline int called_post_more(struct called *t, uint32_t seq, bool signal)
{
	return t->base.ops->post_more(&t->base, seq, signal);
}

static inline int called_flush(struct called *t)
{
	return t->base.ops->flush(&t->base);
}

static inline int called_post_empty(struct called *t, uint32_t seq, bool signal)
{
	return t->base.ops->post_empty(&t->base, seq, signal);
}

static inline int called_poll_send(struct called *t, uint32_t *seq)
{
	return t->base.ops->poll_send(&t->base, seq);
}

static inline int called_poll_send_stamped(struct called *t, uint32_t *seq, uint64_t *stamp)
{
	return t->base.ops->poll_send_stamped(&t->base, seq, stamp);
}

static inline int called_poll_sends(struct called *t, uint32_t *seq)
{
	return t->base.ops->poll_sends ? t->base.ops->poll_sends(&t->base, seq) : called_poll_send(t, seq);
}

static inline int called_poll_recv(struct called *t, uint32_t *seq)
{
	return t->base.ops->poll_recv(&t->base, seq);
}

static inline int called_poll_recv_stamped(struct called *t, uint32_t *seq, uint64_t *stamp)
{
	return t->base.ops->poll_recv_stamped(&t->base, seq, stamp);
}

static inline void called_take_stages(struct called *t)
{
	t->base.ops->take_stages(&t->base);
}

static inline const void *called_recv_buffer(struct called *t)
{
	return t->base.ops->recv_buffer(&t->base);
}

static inline int called_release(struct called *t)
{
	return t->base.ops->release ? t->base.ops->release(&t->base) : 0;
}

static inline int called_wait_send(struct called *t)
{
	return t->base.ops->wait_send ? t->base.ops->wait_send(&t->base) : 0;
}

static inline int called_wait_recv(struct called *t)
{
	return t->base.ops->wait_recv ? t->base.ops->wait_recv(&t->base) : 0;
}

#endif
