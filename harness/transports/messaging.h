/*
 * What the transports over message libraries (zeromq, nanomsg) have in common: settings, endpoints, and how the two ends
 * meet. The library's own calls are a table, used while connecting only.
 *
 * pattern pubsub: who sends publishes on an endpoint that it listens to, the other subscribes; for round trips both do
 * both. What the subscriber can't take in time is dropped. pattern pair: one socket at each end; the sink listens.
 *
 * Meeting, without sleeping and hoping: each side says the other's token as soon as the library knows that it would
 * arrive, and waits for its own wherever it can receive.
 */
#ifndef KBLAT_TRANSPORTS_MESSAGING_H
#define KBLAT_TRANSPORTS_MESSAGING_H

#include "common/opt.h"
#include "transports/frames.h"
#include "transports/token.h"

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

struct messaging {
	enum role role;
	bool sends, receives; /* messages; a pair's socket can always do both */
	bool listens;
	bool is_made; /* there are sockets */
	struct messaging_settings settings;
	struct token token, peer_token;
	char endpoint[128]; /* where this side listens: "tcp://127.0.0.1:4711", "ipc:///dev/shm/…"; or "" */
	char path[108];	    /* ipc: the file, to be removed */
	char object[192];   /* "zeromq tcp://127.0.0.1:4711" */
};

/* What struct zeromq and struct nanomsg begin with. */
#define MESSAGING_TRANSPORT                                                                                            \
	struct transport base;                                                                                         \
	struct frames frames;                                                                                          \
	struct messaging messaging

struct messaging_transport {
	MESSAGING_TRANSPORT;
};

/* What a library can do. 0 or a negative errno. */
struct messaging_library {
	/* Make the sockets that m->sends, m->receives and the pattern call for. */
	int (*make)(struct messaging_transport *t, struct err *e);
	/* Free all, also where make() failed in the middle. */
	void (*unmake)(struct messaging_transport *t);
	/* Listen to `endpoint` ("tcp://127.0.0.1:0": any port) and say in `real` which one it is. */
	int (*listen)(struct messaging_transport *t, const char *endpoint, char *real, size_t size);
	int (*dial)(struct messaging_transport *t, const char *endpoint);
	/* Would what is sent now arrive? */
	bool (*is_heard)(struct messaging_transport *t);
	/* -EAGAIN: not now. hear() returns the size of what came. */
	int (*say)(struct messaging_transport *t, const void *data, size_t size);
	int (*hear)(struct messaging_transport *t, void *data, size_t size);
};

#define MESSAGING_FIELD(f) offsetof(struct messaging_settings, f)

/* The rows that both have. */
#define MESSAGING_OPTIONS                                                                                                \
	{"pattern",                                                                                                      \
	 OPT_ENUM,                                                                                                       \
	 MESSAGING_FIELD(pattern),                                                                                       \
	 "pubsub",                                                                                                       \
	 0,                                                                                                              \
	 0,                                                                                                              \
	 messaging_patterns,                                                                                             \
	 "publish and subscribe, which drops what can't be taken in time; or a pair of sockets"},                        \
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
	     "where the source listens (pubsub over tcp); 0: any that is free"},                                         \
	{                                                                                                                \
		"sink_port", OPT_INT, MESSAGING_FIELD(sink_port), "0", 0, 65535, NULL,                                   \
		    "where the sink listens (pair over tcp, and round trips); 0: any that is free"                       \
	}

/* As in transport_ops. */
int messaging_check(const void *settings, const struct transport_config *config, char *why, size_t why_size);
void messaging_traits(const void *settings, struct transport_traits *out);
json_t *messaging_counters(const struct transport *transport);
int messaging_failure(const struct transport *transport, struct err *e);
int messaging_prepare(struct transport *transport, struct err *e);

/* transport_ops.open for a struct of `size` bytes that begins with MESSAGING_TRANSPORT; likewise the others. */
int messaging_open(const struct transport_ops *ops, const struct messaging_library *library, size_t size,
		   const struct transport_config *config, const void *settings, struct transport **out,
		   json_t **address, struct err *e);
int messaging_connect(const struct messaging_library *library, struct transport *transport, const json_t *peer,
		      struct err *e);
void messaging_close(const struct messaging_library *library, struct transport *transport);

/* {"pattern", "local", …}: what both libraries know. New reference. */
json_t *messaging_granted(const struct transport *transport);

#endif
