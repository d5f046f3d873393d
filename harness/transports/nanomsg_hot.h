/* The hot path of nanomsg; transport.h describes the functions. */
#ifndef KBLAT_TRANSPORTS_NANOMSG_HOT_H
#define KBLAT_TRANSPORTS_NANOMSG_HOT_H

#include <errno.h>

#include "transports/nanomsg.h"

#define TRANSPORT_POST_IS_A_SYSCALL
#define TRANSPORT_POST_WAITS 1

FRAMES_HOT(nanomsg)

/* Cold: nn_send() could not send immediately. */
int nanomsg_post_again(struct nanomsg *t);
int nanomsg_post_later(struct nanomsg *t); /* 0: not possible yet */

/* Cold: nn_recv() returned `n`, which is not the size of a message. */
int nanomsg_recv_other(struct nanomsg *t, int n);

static inline int nanomsg_post(struct nanomsg *t, uint32_t seq, bool signal)
{
	struct frames *f = &t->frames;

	(void)signal;
	frames_put_number(f, seq);
	if (frames_unlikely(nn.send(t->out, f->out, f->size, NN_DONTWAIT) < 0)) {
		int rc = nanomsg_post_again(t);

		if (rc)
			return rc;
	}
	frames_posted(f, seq);
	return 0;
}

static inline int nanomsg_post_try(struct nanomsg *t, uint32_t seq, bool signal)
{
	struct frames *f = &t->frames;

	(void)signal;
	frames_put_number(f, seq);
	if (frames_unlikely(nn.send(t->out, f->out, f->size, NN_DONTWAIT) < 0))
		return nanomsg_post_later(t);
	frames_posted(f, seq);
	return 1;
}

static inline int nanomsg_poll_recv(struct nanomsg *t, uint32_t *seq)
{
	int n = nn.recv(t->in, t->frames.in, t->frames.size, NN_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (frames_unlikely(n != (int)t->frames.size))
		return nanomsg_recv_other(t, n);
	return frames_take_number(&t->frames, seq);
}

static inline int nanomsg_wait_recv(struct nanomsg *t)
{
	struct nn_pollfd item = {.fd = t->in, .events = NN_POLLIN};

	if (nn.poll(&item, 1, -1) >= 0)
		return 0;
	return errno == EINTR ? -EINTR : frames_note(&t->frames, -errno, "wait for messages", NULL);
}

#endif
