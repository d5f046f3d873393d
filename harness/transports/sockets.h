/*
 * What tcp and udp have in common: addresses, settings, buffers, and how the two ends find out that they are each
 * other's: each puts a random token into its address, which goes through the coordinator, and wants to hear it from
 * whoever speaks to it (sockets_meet.c). Nothing else is listened to.
 *
 * Control path; one thread.
 */
#ifndef KBLAT_TRANSPORTS_SOCKETS_H
#define KBLAT_TRANSPORTS_SOCKETS_H

#include <sys/socket.h>

#include "common/opt.h"
#include "transports/frames.h"
#include "transports/interface.h"
#include "transports/token.h"

struct socket_settings {
	char source_address[OPT_STR_MAX], sink_address[OPT_STR_MAX];
	int64_t sink_port, busy_poll, sndbuf, rcvbuf;
	bool nodelay; /* tcp */
};

struct socket_address {
	struct sockaddr_storage addr;
	socklen_t size;
	char text[80]; /* "127.0.0.1:4711", "[::1]:4711" */
};

/* One end. Descriptors are -1 where there is none. */
struct socket_end {
	int fd;	       /* carries the messages; not blocking */
	int listen_fd; /* tcp's sink, until connected */
	int epoll_fd;  /* tells when fd can be read, where the receiver sleeps */
	bool sleeps;   /* it does */
	enum role role;
	struct socket_settings settings;
	struct socket_address own, peer;
	struct token token, peer_token;
	struct interface interface; /* that has the own address */
	char object[192];	    /* "tcp 127.0.0.1:4711 to 127.0.0.1:4712" */
};

/* What struct tcp and struct udp begin with. */
#define SOCKET_TRANSPORT                                                                                               \
	struct transport base;                                                                                         \
	struct frames frames;                                                                                          \
	struct socket_end end

struct socket_transport {
	SOCKET_TRANSPORT;
};

/* The rows that both have. */
#define SOCKET_FIELD(f) offsetof(struct socket_settings, f)
#define SOCKET_OPTIONS                                                                                                 \
	{"source_address",                                                                                             \
	 OPT_STR,                                                                                                      \
	 SOCKET_FIELD(source_address),                                                                                 \
	 "127.0.0.1",                                                                                                  \
	 0,                                                                                                            \
	 0,                                                                                                            \
	 NULL,                                                                                                         \
	 "the source's own numeric IPv4 or IPv6 address"},                                                             \
	    {"sink_address", OPT_STR, SOCKET_FIELD(sink_address), "127.0.0.1", 0, 0, NULL, "the sink's own"},          \
	    {"sink_port",                                                                                              \
	     OPT_INT,                                                                                                  \
	     SOCKET_FIELD(sink_port),                                                                                  \
	     "0",                                                                                                      \
	     0,                                                                                                        \
	     65535,                                                                                                    \
	     NULL,                                                                                                     \
	     "port of the sink; 0: any that is free"},                                                                 \
	    {"busy_poll",                                                                                              \
	     OPT_TIME,                                                                                                 \
	     SOCKET_FIELD(busy_poll),                                                                                  \
	     "0ns",                                                                                                    \
	     0,                                                                                                        \
	     1000000000,                                                                                               \
	     NULL,                                                                                                     \
	     "how long the kernel polls the device's queue where nothing is there (SO_BUSY_POLL, whole us); 0: not"},  \
	    {"sndbuf",                                                                                                 \
	     OPT_BYTES,                                                                                                \
	     SOCKET_FIELD(sndbuf),                                                                                     \
	     "0B",                                                                                                     \
	     0,                                                                                                        \
	     1 << 30,                                                                                                  \
	     NULL,                                                                                                     \
	     "the socket's send buffer (SO_SNDBUF; the kernel doubles it); 0: as the system gives it"},                \
	{                                                                                                              \
		"rcvbuf", OPT_BYTES, SOCKET_FIELD(rcvbuf), "0B", 0, 1 << 30, NULL,                                     \
		    "its receive buffer, likewise (SO_RCVBUF)"                                                         \
	}

/* Addresses that are none, or of two families. As transport_ops.check. */
int sockets_check(const void *settings, const struct transport_config *config, char *why, size_t why_size);

/*
 * Make the transport, a struct of `size` bytes that begins with SOCKET_TRANSPORT, with
 * a socket (`type`: SOCK_STREAM or SOCK_DGRAM) that is bound to this side's address; tcp's sink listens. `*address` is
 * what the other side needs to know. On failure nothing is left.
 */
int sockets_open(const struct transport_ops *ops, int type, size_t size, const struct transport_config *config,
		 const void *settings, struct transport **out, json_t **address, struct err *e);

/* As in transport_ops. */
void sockets_close(struct transport *transport);
json_t *sockets_granted(const struct transport *transport);
json_t *sockets_device_counters(const struct transport *transport);
int sockets_failure(const struct transport *transport, struct err *e);

/* Meet the other side, at most 10 s. `size`: of the messages that will follow. */
int sockets_meet_stream(struct socket_end *s, const json_t *peer, struct err *e);
int sockets_meet_datagram(struct socket_end *s, const json_t *peer, size_t size, struct err *e);

/* Is it one of the datagrams by which two sides meet, of the right peer, late? */
bool sockets_is_greeting(const struct socket_end *s, const void *data, size_t size, size_t message_size);

/* Between sockets_meet_*() and the first message: what is asked for of the socket, what is waited on. */
int sockets_ready(struct socket_end *s, struct err *e);

/* --- pieces that both files use --- */

/* A numeric address and a port; false if it is none, or a wildcard. */
bool sockets_parse(const char *text, uint16_t port, struct socket_address *a);
void sockets_name(struct socket_address *a);

/* --- the hot path --- */

/* Cold: send() sent `sent` bytes of the message, or -1: the rest. 0, -EINTR (stop), or what was noted. */
int sockets_send_rest(struct socket_end *s, struct frames *f, ssize_t sent);

static inline int sockets_post(struct socket_end *s, struct frames *f, uint32_t seq)
{
	frames_put_number(f, seq);
	ssize_t n = send(s->fd, f->out, f->size, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (frames_unlikely(n != (ssize_t)f->size)) {
		int rc = sockets_send_rest(s, f, n);

		if (rc)
			return rc;
	}
	frames_posted(f, seq);
	return 0;
}

/* A datagram that is the number alone. */
static inline int sockets_post_number(struct socket_end *s, struct frames *f, uint32_t seq)
{
	const size_t whole = f->size;
	int rc;

	f->size = FRAMES_NUMBER;
	rc = sockets_post(s, f, seq);
	f->size = whole;
	return rc;
}

/* Between repetitions: what is left of a message that was being sent when the last one was stopped, so that the next one
 * begins where the other side expects one. At most 10 s. */
int sockets_finish_part(struct socket_end *s, struct frames *f, struct err *e);

/* Cold: send() sent `sent` bytes of what was left, or -1. As sockets_post_try(). */
int sockets_try_rest(struct frames *f, ssize_t sent);

/* As sockets_post(), but never waits: 1, 0 where not all could be sent (again with the same number), or what was noted.
 */
static inline int sockets_post_try(struct socket_end *s, struct frames *f, uint32_t seq)
{
	const size_t left = f->size - f->part;

	if (!f->part)
		frames_put_number(f, seq);
	ssize_t n = send(s->fd, f->out + f->part, left, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (frames_unlikely(n != (ssize_t)left))
		return sockets_try_rest(f, n);
	f->part = 0;
	frames_posted(f, seq);
	return 1;
}

/* Sleep until there is something to receive, for ever. 0, -EINTR, or what was noted. */
int sockets_wait(struct socket_end *s, struct frames *f);

#endif
