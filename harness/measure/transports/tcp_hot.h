/*
 * A TCP connection. The stream is divided into messages by their fixed size. Busy: repeated
 * non-blocking recv(2); event: epoll_wait(2), then recv(2).
 */
#ifndef KBLAT_TRANSPORTS_TCP_HOT_H
#define KBLAT_TRANSPORTS_TCP_HOT_H

#include <errno.h>

#include "measure/transports/sockets.h"

struct tcp {
	SOCKET_TRANSPORT;
	size_t got; /* bytes of the next message received so far */
};

extern const struct transport_ops tcp_transport;

/* --- the hot path (transport.h) --- */

#define TRANSPORT_POST_IS_A_SYSCALL
#define TRANSPORT_POST_WAITS 1
#define TRANSPORT_STAGES     1

FRAMES_HOT(tcp)

/* Cold: recv() returned `n`, which is not the size of the rest of a message. */
int tcp_recv_part(struct tcp *t, ssize_t n);

static inline int tcp_post(struct tcp *t, uint32_t seq, bool signal)
{
	(void)signal;
	return sockets_post(&t->end, &t->frames, seq);
}

static inline int tcp_post_try(struct tcp *t, uint32_t seq, bool signal)
{
	(void)signal;
	return sockets_post_try(&t->end, &t->frames, seq);
}

/* One system call reads the rest of one message, and nothing of the next one. */
static inline int tcp_poll_recv(struct tcp *t, uint32_t *seq)
{
	const size_t rest = t->frames.size - t->got;
	ssize_t n = recv(t->end.fd, t->frames.in + t->got, rest, MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (frames_unlikely(n != (ssize_t)rest))
		return tcp_recv_part(t, n);
	t->got = 0;
	return frames_take_number(&t->frames, seq);
}

/* With the kernel's stamp. */
static inline int tcp_poll_recv_stamped(struct tcp *t, uint32_t *seq, uint64_t *stamp)
{
	const size_t rest = t->frames.size - t->got;
	ssize_t n = stages_recv(t->end.fd, t->frames.in + t->got, rest, MSG_DONTWAIT, stamp);

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (frames_unlikely(n != (ssize_t)rest))
		return tcp_recv_part(t, n);
	t->got = 0;
	return frames_take_number(&t->frames, seq);
}

static inline void tcp_take_stages(struct tcp *t)
{
	stages_take(&t->stages, t->end.fd);
}

static inline int tcp_wait_recv(struct tcp *t)
{
	return sockets_wait(&t->end, &t->frames);
}

#endif
