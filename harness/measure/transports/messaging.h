/*
 * What the transports over message libraries (zeromq, nanomsg) have in common: settings, endpoints,
 * and how the two ends connect and pass messages. The library's own functions are in a table.
 *
 * pattern pubsub: the sender publishes on an endpoint on which it listens, and the other side
 * subscribes; for round trips both sides do both. Messages that the subscriber does not take in
 * time are dropped. pattern pair: one socket on each side; the sink listens.
 *
 * Connecting does not rely on sleeping long enough: each side sends the other's token as soon as
 * the library knows that it would arrive, and waits for its own token if it can receive.
 *
 * Anybody can reach an endpoint on which a side listens. zeromq only admits the peer (zeromq.c);
 * nanomsg cannot tell it from others. The libraries allocate a message before anyone can look at it,
 * so they are told the size of the largest one, and end a connection that announces more. Such ends
 * are counted.
 */
#ifndef KBLAT_TRANSPORTS_MESSAGING_H
#define KBLAT_TRANSPORTS_MESSAGING_H

#include "common/opt.h"
#include "measure/transports/frames.h"
#include "measure/transports/token.h"

enum messaging_pattern { MESSAGING_PUBSUB, MESSAGING_PAIR };
enum messaging_over { MESSAGING_TCP, MESSAGING_IPC };

extern const char *const messaging_patterns[], *const messaging_overs[];

struct messaging_settings {
	int pattern, over;
	char source_address[OPT_STR_MAX], sink_address[OPT_STR_MAX];
	int64_t source_port, sink_port;
	int64_t hwm;		/* zeromq */
	int64_t sndbuf, rcvbuf; /* nanomsg */
	bool nodelay;		/* nanomsg */
};

struct messaging_library;

struct messaging {
	const struct messaging_library *library;
	enum role role;
	bool sends, receives; /* messages of the point; the socket of a pair can always do both */
	bool listens;
	bool is_made;	 /* sockets exist */
	int64_t largest; /* bytes of a message */
	struct messaging_settings settings;
	struct token token, peer_token;
	char endpoint[128]; /* on which this side listens: "tcp://127.0.0.1:4711", "ipc:///dev/shm/…"; or "" */
	char path[108];	    /* ipc: the file, to be removed */
	char object[192];   /* "zeromq tcp://127.0.0.1:4711" */
};

/* The first members of struct zeromq and struct nanomsg. */
#define MESSAGING_TRANSPORT                                                                                            \
	struct transport base;                                                                                         \
	struct frames frames;                                                                                          \
	struct messaging messaging

struct messaging_transport {
	MESSAGING_TRANSPORT;
};

/* The functions of a library. They return 0 or a negative errno. */
struct messaging_library {
	/* Create the sockets required by m->sends, m->receives and the pattern. */
	int (*make)(struct messaging_transport *t, struct err *e);
	/* Free everything, also if make() failed halfway. */
	void (*unmake)(struct messaging_transport *t);
	/* Listen on `endpoint` ("tcp://127.0.0.1:0": any port), and write the actual one to `real`. */
	int (*listen)(struct messaging_transport *t, const char *endpoint, char *real, size_t size);
	int (*dial)(struct messaging_transport *t, const char *endpoint);
	/* Answer those who want to connect; from now on, refuse them. NULL: the library admits everybody. */
	void (*admit)(struct messaging_transport *t);
	void (*admit_no_more)(struct messaging_transport *t);
	/* Would a message that is sent now arrive? */
	bool (*has_peer)(struct messaging_transport *t);
	/* -EAGAIN: not now. receive() returns the size of the message received. */
	int (*send)(struct messaging_transport *t, const void *data, size_t size);
	int (*receive)(struct messaging_transport *t, void *data, size_t size);
	int (*wait)(struct messaging_transport *t);	       /* sleep until there may be a message */
	const char *(*error)(int number);		       /* what an error number means */
	int64_t (*count_ended)(struct messaging_transport *t); /* the number of connections that have ended so far */
};

#define MESSAGING_FIELD(f) offsetof(struct messaging_settings, f)

/* The rows that both transports have. */
#define MESSAGING_OPTIONS                                                                                                \
	{"pattern",                                                                                                      \
	 OPT_ENUM,                                                                                                       \
	 MESSAGING_FIELD(pattern),                                                                                       \
	 "pubsub",                                                                                                       \
	 0,                                                                                                              \
	 0,                                                                                                              \
	 messaging_patterns,                                                                                             \
	 "publish and subscribe, which drops messages when a queue is full; or a pair of sockets"},                      \
	    {"over", OPT_ENUM, MESSAGING_FIELD(over), "tcp", 0, 0, messaging_overs, "TCP, or a Unix socket (one host)"}, \
	    {"source_address",                                                                                           \
	     OPT_STR,                                                                                                    \
	     MESSAGING_FIELD(source_address),                                                                            \
	     "127.0.0.1",                                                                                                \
	     0,                                                                                                          \
	     0,                                                                                                          \
	     NULL,                                                                                                       \
	     "the source's own numeric IPv4 address (over tcp)"},                                                        \
	    {"sink_address", OPT_STR, MESSAGING_FIELD(sink_address), "127.0.0.1", 0, 0, NULL, "the sink's own"},         \
	    {"source_port",                                                                                              \
	     OPT_INT,                                                                                                    \
	     MESSAGING_FIELD(source_port),                                                                               \
	     "0",                                                                                                        \
	     0,                                                                                                          \
	     65535,                                                                                                      \
	     NULL,                                                                                                       \
	     "port on which the source listens (pubsub over tcp); 0: any free port"},                                    \
	{                                                                                                                \
		"sink_port", OPT_INT, MESSAGING_FIELD(sink_port), "0", 0, 65535, NULL,                                   \
		    "port on which the sink listens (pair over tcp, and round trips); 0: any free port"                  \
	}

/* For transport_ops. */
extern const struct counter_check messaging_checks[];
int messaging_check(const void *settings, const struct transport_config *config, char *why, size_t why_size);
void messaging_traits(const void *settings, struct transport_traits *out);
int messaging_connect(struct transport *transport, const json_t *peer, struct err *e);
int messaging_prepare(struct transport *transport, struct err *e);
json_t *messaging_counters(struct transport *transport);
int messaging_failure(const struct transport *transport, struct err *e);
void messaging_close(struct transport *transport);
int messaging_post(struct transport *transport, uint32_t seq, bool signal);
int messaging_post_try(struct transport *transport, uint32_t seq, bool signal);
int messaging_poll_recv(struct transport *transport, uint32_t *seq);
int messaging_wait_recv(struct transport *transport);

#define MESSAGING_OPS                                                                                                  \
	.settings_size = sizeof(struct messaging_settings), .completes_in_post = true,                                 \
	.poll_modes = 1 << POLL_BUSY | 1 << POLL_EVENT | 1 << POLL_ADAPTIVE, .check = messaging_check,                 \
	.checks = messaging_checks, .traits = messaging_traits, .connect = messaging_connect,                          \
	.prepare = messaging_prepare, .device_counters = messaging_counters, .failure = messaging_failure,             \
	.close = messaging_close, FRAMES_HOT_OPS, .post = messaging_post, .post_try = messaging_post_try,              \
	.poll_recv = messaging_poll_recv, .wait_recv = messaging_wait_recv

/* transport_ops.open for a struct of `size` bytes that begins with MESSAGING_TRANSPORT. */
int messaging_open(const struct transport_ops *ops, const struct messaging_library *library, size_t size,
		   const struct transport_config *config, const void *settings, struct transport **out,
		   json_t **address, struct err *e);

/* {"pattern", "local", …}: what both libraries report. New reference. */
json_t *messaging_granted(const struct transport *transport);

#endif
