/*
 * UDP datagrams between two connected sockets, one per message. Losses are counted: if the receive
 * buffer is too small for a burst, the rest of the burst is lost. Busy: repeated non-blocking
 * recv(2); event: epoll_wait(2), then recv(2).
 */
#ifndef KBLAT_TRANSPORTS_UDP_HOT_H
#define KBLAT_TRANSPORTS_UDP_HOT_H

#include <errno.h>

#include "measure/transports/sockets.h"

#define RECEIVERS_MAX 64
#define UDP_SIZE_MAX  65507 /* 2^16 - 1 minus the headers of IPv4 and UDP */

/* One of several sockets of the sink that get every message. */
struct udp_receiver {
	int fd;
	uint32_t last; /* the message that it has received last */
};

struct udp {
	SOCKET_TRANSPORT;
	bool acknowledges; /* datagrams that consist of a number alone are received, too */
	uint32_t copies;   /* the source: datagrams of a message, of which each goes to its own address; 0: just one */
	uint32_t count, next; /* the sink: receivers; 0: the socket itself. The first that lacks the newest message */
	uint32_t newest;
	int64_t receivers;
	struct socket_address group; /* size 0: none */
	struct socket_address target[RECEIVERS_MAX];
	struct udp_receiver receiver[RECEIVERS_MAX];
};

extern const struct transport_ops udp_transport;

/* --- the hot path (transport.h) --- */

#define TRANSPORT_POST_IS_A_SYSCALL
#define TRANSPORT_POST_WAITS 1
#define TRANSPORT_STAGES     1

FRAMES_HOT(udp)

/* Cold: recv() returned `n`, which is not the size of a message. Returns the same as poll_recv. */
int udp_recv_other(struct udp *t, ssize_t n, uint32_t *seq);

/* Cold: with several receivers, or a group. The same as udp_post and udp_poll_recv. */
int udp_post_copies(struct udp *t, uint32_t seq);
int udp_poll_receivers(struct udp *t, uint32_t *seq);

static inline int udp_post(struct udp *t, uint32_t seq, bool signal)
{
	(void)signal;
	if (frames_unlikely(t->copies > 0))
		return udp_post_copies(t, seq);
	return sockets_post(&t->end, &t->frames, seq);
}

static inline int udp_post_try(struct udp *t, uint32_t seq, bool signal)
{
	(void)signal;
	return sockets_post_try(&t->end, &t->frames, seq);
}

#define TRANSPORT_POSTS_EMPTY 1

/* The message consists of its number. */
static inline int udp_post_empty(struct udp *t, uint32_t seq, bool signal)
{
	(void)signal;
	return sockets_post_number(&t->end, &t->frames, seq);
}

static inline int udp_poll_recv(struct udp *t, uint32_t *seq)
{
	if (frames_unlikely(t->count > 0))
		return udp_poll_receivers(t, seq);

	/* MSG_TRUNC: the datagram's own size, even if it is larger. */
	ssize_t n = recv(t->end.fd, t->frames.in, t->frames.size, MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (frames_unlikely(n != (ssize_t)t->frames.size))
		return udp_recv_other(t, n, seq);
	return frames_take_number(&t->frames, seq);
}

/* With the kernel's stamp. */
static inline int udp_poll_recv_stamped(struct udp *t, uint32_t *seq, uint64_t *stamp)
{
	ssize_t n = stages_recv(t->end.fd, t->frames.in, t->frames.size, MSG_DONTWAIT | MSG_TRUNC, stamp);

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (frames_unlikely(n != (ssize_t)t->frames.size))
		return udp_recv_other(t, n, seq);
	return frames_take_number(&t->frames, seq);
}

static inline void udp_take_stages(struct udp *t)
{
	stages_take(&t->stages, t->end.fd);
}

static inline int udp_wait_recv(struct udp *t)
{
	return sockets_wait(&t->end, &t->frames);
}

#endif
