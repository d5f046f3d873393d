/* The hot path of zeromq; transport.h describes the functions. */
#ifndef KBLAT_TRANSPORTS_ZEROMQ_HOT_H
#define KBLAT_TRANSPORTS_ZEROMQ_HOT_H

#include <errno.h>

#include "transports/zeromq.h"

#define TRANSPORT_POST_IS_A_SYSCALL
#define TRANSPORT_POST_WAITS 1

FRAMES_HOT(zeromq)

/* Cold: zmq_send() could not send immediately. */
int zeromq_post_again(struct zeromq *t);
int zeromq_post_later(struct zeromq *t); /* 0: not possible yet */

/* Cold: zmq_recv() returned `n`, which is not the size of a message. */
int zeromq_recv_other(struct zeromq *t, int n);

static inline int zeromq_post(struct zeromq *t, uint32_t seq, bool signal)
{
	struct frames *f = &t->frames;

	(void)signal;
	frames_put_number(f, seq);
	if (frames_unlikely(zmq.send(t->out, f->out, f->size, ZMQ_DONTWAIT) < 0)) {
		int rc = zeromq_post_again(t);

		if (rc)
			return rc;
	}
	frames_posted(f, seq);
	return 0;
}

static inline int zeromq_post_try(struct zeromq *t, uint32_t seq, bool signal)
{
	struct frames *f = &t->frames;

	(void)signal;
	frames_put_number(f, seq);
	if (frames_unlikely(zmq.send(t->out, f->out, f->size, ZMQ_DONTWAIT) < 0))
		return zeromq_post_later(t);
	frames_posted(f, seq);
	return 1;
}

static inline int zeromq_poll_recv(struct zeromq *t, uint32_t *seq)
{
	int n = zmq.recv(t->in, t->frames.in, t->frames.size, ZMQ_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (frames_unlikely(n != (int)t->frames.size))
		return zeromq_recv_other(t, n);
	return frames_take_number(&t->frames, seq);
}

static inline int zeromq_wait_recv(struct zeromq *t)
{
	zmq_pollitem_t item = {.socket = t->in, .events = ZMQ_POLLIN};

	if (zmq.poll(&item, 1, -1) >= 0)
		return 0;
	return errno == EINTR ? -EINTR : frames_note(&t->frames, -errno, "wait for messages", NULL);
}

#endif
