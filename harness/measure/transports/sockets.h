/*
 * What tcp and udp have in common: addresses, settings, buffers, and how the two ends authenticate
 * each other. Each puts a random token into its address, which goes through the coordinator, and
 * expects this token from its peer (sockets_meet.c). Everything else is ignored. Control path; one
 * thread.
 */
#ifndef KBLAT_TRANSPORTS_SOCKETS_H
#define KBLAT_TRANSPORTS_SOCKETS_H

#include <sys/socket.h>

#include "common/opt.h"
#include "measure/transports/frames.h"
#include "measure/transports/interface.h"
#include "measure/transports/stages.h"
#include "measure/transports/token.h"

#define UDP_SIZE_MAX 65507 /* 2^16 - 1 minus the headers of IPv4 and UDP */

enum socket_bypass { BYPASS_NO, BYPASS_EXPECTED };

struct socket_settings {
	char source_address[OPT_STR_MAX], sink_address[OPT_STR_MAX];
	int64_t sink_port, busy_poll, wait_limit, sndbuf, rcvbuf;
	bool nodelay;		 /* tcp */
	int bypass;		 /* enum socket_bypass; tcp, udp */
	int64_t receivers;	 /* udp */
	char group[OPT_STR_MAX]; /* udp; "none" */
};

struct socket_address {
	struct sockaddr_storage addr;
	socklen_t size;
	char text[80]; /* "127.0.0.1:4711", "[::1]:4711" */
};

/* One end. Unused descriptors are -1. */
struct socket_end {
	int fd;	       /* carries the messages; non-blocking */
	int listen_fd; /* tcp's sink, until connected */
	int epoll_fd;  /* tells when fd is readable, if the receiver sleeps */
	bool sleeps;   /* the receiver sleeps */
	int wait_ms;   /* for at most so long at a time; -1: without a limit */
	enum role role;
	struct socket_settings settings;
	struct socket_address own, peer;
	struct token token, peer_token;
	struct interface interface; /* that has this side's address */
	struct interface carrier;   /* with `bypass: expected`: over which the kernel would send */
	char object[192];	    /* "tcp 127.0.0.1:4711 to 127.0.0.1:4712" */
};

/* The first members of struct tcp and struct udp. */
#define SOCKET_TRANSPORT                                                                                               \
	struct transport base;                                                                                         \
	struct frames frames;                                                                                          \
	struct socket_end end;                                                                                         \
	struct stages stages;                                                                                          \
	uint64_t messages; /* of a repetition, if stages are stamped */                                                \
	bool has_stages

struct socket_transport {
	SOCKET_TRANSPORT;
};

/* The rows that both transports have. */
#define SOCKET_FIELD(f) offsetof(struct socket_settings, f)
#define SOCKET_OPTIONS                                                                                                  \
	{"source_address",                                                                                              \
	 OPT_STR,                                                                                                       \
	 SOCKET_FIELD(source_address),                                                                                  \
	 "127.0.0.1",                                                                                                   \
	 0,                                                                                                             \
	 0,                                                                                                             \
	 NULL,                                                                                                          \
	 "the source's own numeric IPv4 or IPv6 address"},                                                              \
	    {"sink_address", OPT_STR, SOCKET_FIELD(sink_address), "127.0.0.1", 0, 0, NULL, "the sink's own"},           \
	    {"sink_port", OPT_INT, SOCKET_FIELD(sink_port), "0", 0, 65535, NULL, "port of the sink; 0: any free port"}, \
	    {"busy_poll",                                                                                               \
	     OPT_TIME,                                                                                                  \
	     SOCKET_FIELD(busy_poll),                                                                                   \
	     "0ns",                                                                                                     \
	     0,                                                                                                         \
	     1000000000,                                                                                                \
	     NULL,                                                                                                      \
	     "how long the kernel polls the device's queue when nothing has arrived (SO_BUSY_POLL, in whole us); 0: "   \
	     "not at all"},                                                                                             \
	    {"wait_limit",                                                                                              \
	     OPT_TIME,                                                                                                  \
	     SOCKET_FIELD(wait_limit),                                                                                  \
	     "0ns",                                                                                                     \
	     0,                                                                                                         \
	     3600000000000,                                                                                             \
	     NULL,                                                                                                      \
	     "a receiver that sleeps looks again after so long without a message, as event loops with timers do (in "   \
	     "whole ms); 0: it waits without a limit"},                                                                 \
	    {"sndbuf",                                                                                                  \
	     OPT_BYTES,                                                                                                 \
	     SOCKET_FIELD(sndbuf),                                                                                      \
	     "0B",                                                                                                      \
	     0,                                                                                                         \
	     1 << 30,                                                                                                   \
	     NULL,                                                                                                      \
	     "the socket's send buffer (SO_SNDBUF; the kernel doubles it); 0: the system's default"},                   \
	{                                                                                                               \
		"rcvbuf", OPT_BYTES, SOCKET_FIELD(rcvbuf), "0B", 0, 1 << 30, NULL,                                      \
		    "the socket's receive buffer (SO_RCVBUF; the kernel doubles it); 0: the system's default"           \
	}

/* The rows of tcp and udp alone, whose messages are sent by calls that a preloaded library can take over. */
#define SOCKET_CALL_OPTIONS                                                                                            \
	{                                                                                                              \
		"bypass", OPT_ENUM, SOCKET_FIELD(bypass), "no", 0, 0, socket_bypass_names,                             \
		    "expected: a preloaded library takes the messages past the kernel, so the point is not valid if "  \
		    "the kernel's interface counts them"                                                               \
	}

extern const char *const socket_bypass_names[]; /* by enum socket_bypass; NULL ends */

/* Rejects invalid addresses, and addresses of different families. See transport_ops.check. */
int sockets_check(const void *settings, const struct transport_config *config, char *why, size_t why_size);

/*
 * Create the transport, a struct of `size` bytes that begins with SOCKET_TRANSPORT, with a socket
 * (`type`: SOCK_STREAM or SOCK_DGRAM) that is bound to this side's address; tcp's sink listens.
 * `*address` is what the other side needs to know. On failure nothing is left behind.
 */
int sockets_open(const struct transport_ops *ops, int type, size_t size, const struct transport_config *config,
		 const void *settings, struct transport **out, json_t **address, struct err *e);

/* For transport_ops. */
void sockets_close(struct transport *transport);
json_t *sockets_granted(const struct transport *transport);
json_t *sockets_device_counters(struct transport *transport);
int sockets_read_clock(struct transport *transport, struct device_clock_reading *now, struct device_counter *counter,
		       struct err *e);
void sockets_set_column(struct transport *transport, const char *name, int64_t *data, uint64_t count);
int sockets_failure(const struct transport *transport, struct err *e);

/* Connect to the other side; takes at most 10 s. `size`: of the messages that will follow. */
int sockets_meet_stream(struct socket_end *s, const json_t *peer, struct err *e);
int sockets_meet_datagram(struct socket_end *s, const json_t *peer, size_t size, struct err *e);

/* Is this a late datagram of the connection set-up, from the right peer? */
bool sockets_is_greeting(const struct socket_end *s, const void *data, size_t size, size_t message_size);

/* To be called between sockets_meet_*() and the first message: sets the socket's options, and
 * prepares waiting. */
int sockets_ready(struct socket_end *s, struct err *e);

/* A setting `group`, of udp and verbs: is there one? Is it the IPv4 address of a multicast group? What to say if not, with the
 * quoted text. */
#define NO_GROUP "none"
bool socket_has_group(const char *group);
bool socket_group_is(const char *group);
#define GROUP_REFUSED                                                                                                  \
	"group must be none or the IPv4 address of a multicast group, 224.0.0.0 to 239.255.255.255, not %s"

/* --- used by both files --- */

/*
 * Parse a numeric address, and add a port; false if it is invalid or a wildcard. One of a link has a scope, "fe80::1%eth0",
 * which is 0 if no interface here has that name.
 */
bool sockets_parse(const char *text, uint16_t port, struct socket_address *a);

/* Is it of a link, and its interface not known? For the peer's: the interface is the one that the own address has. */
bool sockets_lack_scope(const struct socket_address *a);
void sockets_take_scope(struct socket_address *to, const struct socket_address *from);
void sockets_name(struct socket_address *a);

/* sockets_ready(), and the stages' stamps of the sink's socket. */
int sockets_connected(struct socket_transport *t, bool is_stream, struct err *e);

/* Between repetitions, with the stages' stamps: the next message is the first. */
int sockets_prepare_stages(struct socket_transport *t, bool is_stream, struct err *e);

/* Between repetitions: send the rest of a message that was being sent when the last repetition was
 * stopped, so that the next message begins where the other side expects one. Takes at most 10 s. */
int sockets_finish_part(struct socket_end *s, struct frames *f, struct err *e);

/* The hot path, as far as it is the same. sockets_post_number() posts a datagram that consists of the number alone;
 * sockets_wait_recv() sleeps for at most wait_limit. */
int sockets_post(struct transport *transport, uint32_t seq, bool signal);
int sockets_post_number(struct transport *transport, uint32_t seq, bool signal);
int sockets_post_try(struct transport *transport, uint32_t seq, bool signal);
void sockets_take_stages(struct transport *transport);
int sockets_wait_recv(struct transport *transport);

#define SOCKET_HOT_OPS FRAMES_HOT_OPS, .take_stages = sockets_take_stages, .wait_recv = sockets_wait_recv

#endif
