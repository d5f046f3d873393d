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
#define TRANSPORT_POSTS_EMPTY 1
#define TRANSPORT_STAGES      1

static inline int64_t called_begin(struct called *t)
{
	(void)t;
	return clock_ticks_begin();
}

static inline int64_t called_end(struct called *t)
{
	(void)t;
	return clock_ticks_end();
}

static inline int64_t called_pause(struct called *t, int64_t until)
{
	(void)t, (void)until;
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
	return t->base.ops->post_try(&t->base, seq, signal);
}

static inline int called_post_empty(struct called *t, uint32_t seq, bool signal)
{
	return t->base.ops->post_empty(&t->base, seq, signal);
}

static inline int called_poll_send(struct called *t, uint32_t *seq)
{
	return t->base.ops->poll_send(&t->base, seq);
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
	return t->base.ops->wait_recv(&t->base);
}

#endif
