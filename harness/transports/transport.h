/*
 * A transport carries numbered messages from a source to a sink (duplex: and back). Two halves:
 *
 * Control path: `struct transport_ops`, a table; called at set-up, between repetitions and at the end, by one thread.
 *
 * Hot path: static inline functions in transports/<name>_hot.h, from which every kernel is instantiated at compile
 * time (harness/kernels/). Each takes `struct <name> *t` first and has <name>_ in front:
 *
 *   int64_t begin()               stamp before an operation    } the tick counter; the scripted transport has
 *   int64_t end()                 stamp after one              } a clock of its own
 *   int64_t pause(until)          spin until `until` in ticks, or a while; returns the time now
 *   void *send_buffer(seq)        where post takes the payload of message seq from (size bytes)
 *   int post(seq, signal)         post message seq; the caller keeps at most `depth` in flight. Without `signal`
 *                                 nobody asks for its completion, and a device need not tell of it
 *   int poll_send(&seq)           one send completion: 1 and its number (all earlier messages are completed, too), or 0
 *   int poll_recv(&seq)           one received message: 1 and its number, or 0
 *   const void *recv_buffer()     payload of the message last received, until release
 *   int release()                 give the buffer of the message last received back (post the receive again)
 *   int wait_send()               sleep until a send completion may be there    } where not busy: 0, or -EINTR (a
 *   int wait_recv()               likewise for receiving                        } signal: look at the stop flag)
 *   int poll_send_stamped(&seq, &device), poll_recv_stamped(&seq, &device)
 *                                 likewise, and the device's own stamp; where TRANSPORT_STAMPS is defined as 1
 *   bool fetched(seq)             has message seq, which is completed, brought what it must? Where TRANSPORT_FETCHES is
 *                                 defined as 1; it may have, or not, bring something (transport_traits.fetches)
 *   void wake_recv()              after post, if the other side may sleep: wake it; where no device does that, and
 *                                 TRANSPORT_WAKES is defined as 1
 *   void wake_send()              after release, likewise
 *   int post_try(seq, signal)     as post, but never waits: 1, or 0 where it can't go on now: then again, with the same
 *                                 seq. Where TRANSPORT_POST_WAITS is defined as 1; else a post never waits
 *   int post_more(seq, signal)    put the post of message seq into a list of at most config->batch
 *   int flush()                   post the list; both where TRANSPORT_LISTS is defined as 1
 *   int poll_sends(&seq)          as poll_send, of several at once: how many, and the number of the last; where
 *                                 TRANSPORT_POLLS_MANY is defined as 1
 *   int post_empty(seq, signal)   as post, of a message without a payload: recv_buffer() then has nothing of it; in a
 *                                 point with config->acknowledges, where TRANSPORT_POSTS_EMPTY is defined as 1
 *   int register_memory(data, size, &handle), deregister_memory(handle)
 *                                 have the device hold memory, and let go of it; where TRANSPORT_REGISTERS is defined as
 *                                 1. These leave it to the caller to tell what went wrong
 *
 * ints are 0 or as said, or a negative errno: then the transport has noted what went wrong; ops->failure() tells it.
 * TRANSPORT_POLL_IS_A_LOAD is defined where poll_recv() finds nothing by loading a line of the other side's, and nothing else.
 * TRANSPORT_POST_IS_A_SYSCALL is defined where a post costs so much that constants in the loops gain nothing.
 * A wait never sleeps through a message: the first call may arm and return, so the caller polls between two waits.
 */
#ifndef KBLAT_TRANSPORTS_TRANSPORT_H
#define KBLAT_TRANSPORTS_TRANSPORT_H

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/opt.h"

struct device_clock_reading;
struct err;

enum role { ROLE_SOURCE, ROLE_SINK };
/* Adaptive: spin for a while, then sleep as in event mode. */
enum poll_mode { POLL_BUSY, POLL_EVENT, POLL_ADAPTIVE };

/* When a kernel's source submits, as far as its settings say. */
struct schedule {
	int64_t messages; /* of a repetition, at most; steps, where there is a pacer */
	int64_t burst;	  /* messages between two pauses; 0: all of them */
	int64_t pause_ns;
	int64_t block;	 /* messages that share an entry of each column; 0: each has its own */
	int64_t rate_hz; /* of the pacer; 0: there is none */
	int64_t tick_error_ppm, window_ns;
	bool keeps_first; /* of several steps that are due at once, the pacer; else the last */
};

/* What follows from a transport's settings. */
struct transport_traits {
	bool is_reliable;    /* a lost message invalidates the result; else it is counted */
	bool is_one_sided;   /* what is posted needs nobody at the other side, and nothing is received there */
	size_t overhead;     /* bytes of a message that are the transport's own and count in its size */
	int64_t buffers;     /* send buffers; 0: as many as are needed; -1: the settings do not say */
	bool copies_payload; /* when it is posted (inline): what is written to the buffer later is not sent */
	bool sends, fetches; /* a message's bytes travel to the sink; they come from there, by the same request */
	uint32_t signal_every;
	const char *device[2]; /* of each side (enum role), as the settings name it; "auto": any; NULL: there is none */
};

/* What a kernel asks of a transport, beside the transport's own settings. Before a point runs, all but what belongs to
 * one endpoint: role, numa_node, stop, name. */
struct transport_config {
	const struct transport_ops *ops;
	enum role role;
	enum poll_mode poll_send; /* how send completions are waited for, */
	enum poll_mode poll_recv; /* and how messages: anything but busy needs something to sleep on */
	bool duplex;		  /* both sides post and receive, as a round trip does */
	int64_t size;		  /* bytes of a message, the transport's own included, >= 1 */
	int64_t answer;		  /* those of the sink's messages, where they have another size; 0: they have not */
	int64_t depth;		  /* messages in flight at most; receive buffers likewise */
	int64_t batch;		  /* messages posted in one list at most; 0: none are */
	bool is_stream;		  /* messages follow each other without a wait for the other side */
	bool is_passive;	  /* and where the operation is one-sided, nobody there looks */
	bool acknowledges;	  /* messages without a payload are sent, too: post_empty() */
	bool is_idle;		  /* no message is ever sent */
	bool any_payload;	  /* nobody looks at payloads: messages may share a buffer */
	int numa_node;		  /* for buffers; -1: where the caller runs */
	const atomic_int *stop;	  /* not 0: end. A post that can't go on at once looks at it and returns -EINTR */
	bool device_stamps;	  /* the device stamps completions with its own clock */
	bool rewrites;		  /* a thread rewrites the first 8 bytes of the payload while it is sent */
	struct schedule schedule;
	const char *name; /* unique for this run and point: [0-9a-f]{16}, for objects that need a name */
};

/* Bytes of a message of the sink's, of one that this side sends, and of one that it receives. */
static inline int64_t transport_answer_bytes(const struct transport_config *c)
{
	return c->answer ? c->answer : c->size;
}

static inline int64_t transport_sent_bytes(const struct transport_config *c)
{
	return c->role == ROLE_SINK ? transport_answer_bytes(c) : c->size;
}

static inline int64_t transport_received_bytes(const struct transport_config *c)
{
	return c->role == ROLE_SOURCE ? transport_answer_bytes(c) : c->size;
}

/* Of the larger of the two. */
static inline int64_t transport_largest_bytes(const struct transport_config *c)
{
	return c->answer > c->size ? c->answer : c->size;
}

/* The setting that says that messages have so many bytes. */
static inline const char *transport_size_setting(const struct transport_config *c, int64_t bytes)
{
	return bytes == c->answer ? "answer" : "size";
}

/* A ring's indices wrap by masking: as many slots as are asked for, rounded up to a power of two. */
static inline uint32_t transport_ring_slots(int64_t asked)
{
	uint32_t slots = 1;

	while (slots < asked)
		slots *= 2;
	return slots;
}

struct transport;

/* What a message usually takes, for forecasts of how long a point will run, and nothing else: orders of magnitude. */
struct transport_typical {
	int64_t post_ns;     /* one post of many, back to back */
	int64_t latency_ns;  /* one way, polled busily */
	int64_t sleeping_ns; /* one way, to a receiver that sleeps */
};

struct transport_ops {
	const char *name;
	const char *summary;	   /* one line for `kblat list` */
	const struct opt *options; /* settings of its own: open() takes a struct filled from them */
	size_t settings_size;	   /* of that struct; 0: there are none */
	unsigned poll_modes;	   /* bit 1 << enum poll_mode */
	bool has_own_clock;	   /* scripted: ticks are nanoseconds of a virtual time */
	bool has_device;	   /* one under test, whose counters must show the traffic */
	bool has_wire;		   /* device_counters() may tell the bytes that went over it */
	bool completes_in_post;	   /* a message is complete when post returns: nobody ever sleeps for that */
	bool posts_lists;	   /* TRANSPORT_LISTS */
	bool registers_memory;	   /* TRANSPORT_REGISTERS */
	bool answers_differ;	   /* transport_config.answer may be asked for */
	struct transport_typical typical;

	/* Contradictions between its settings, and between them and what the kernel asks for: found before anything
	 * starts, no device touched. NULL if there are none to find. `why` names both settings. 0 or -EINVAL. */
	int (*check)(const void *settings, const struct transport_config *config, char *why, size_t why_size);

	/* Fill what differs from transport_traits_of()'s defaults. NULL: nothing does. */
	void (*traits)(const void *settings, struct transport_traits *out);

	/* Make the resources. `*address` (new reference) is what the peer needs in connect(). What would stay in
	 * /dev/shm if this process were killed must have config->name in its name. STATUS_IMPOSSIBLE in `e` where
	 * this machine or device can't. On failure nothing is left. `settings` need not live longer than the call. */
	int (*open)(const struct transport_config *config, const void *settings, struct transport **t, json_t **address,
		    struct err *e);

	/* Both sides are called at about the same time, each with the other's address. May wait for the other, at most
	 * 10 s. */
	int (*connect)(struct transport *t, const json_t *peer, struct err *e);

	/* Before every repetition, sink first: all receives posted, nothing of an earlier repetition left. */
	int (*prepare)(struct transport *t, struct err *e);

	/* The clock that device_stamps are of, read beside the tick counter; and the bits that it has. Between
	 * repetitions. NULL: there is no such clock. */
	int (*read_clock)(struct transport *t, struct device_clock_reading *now, uint64_t *mask, struct err *e);

	/* What was really given: {"device": "rxe0", "mtu_bytes": 1024, "inline_bytes": 0, ...}. New reference. */
	json_t *(*granted)(const struct transport *t);

	/* Counters of the device under test, {"port_xmit_packets": 123, ...}; {} if it has none. New reference. Read
	 * between repetitions. */
	json_t *(*device_counters)(const struct transport *t);

	/* The memory of a passive side, when a repetition has ended of which so many messages were posted and completed:
	 * how many of its places do not hold what they must. NULL: nothing of that kind. */
	int64_t (*check_memory)(const struct transport *t, uint64_t posted);

	/* What the hot path stumbled on: fills `e` ("work completion 17 of the send queue: RNR retry counter exceeded
	 * (13), ...") and returns its errno. */
	int (*failure)(const struct transport *t, struct err *e);

	void (*close)(struct transport *t);
};

struct transport {
	const struct transport_ops *ops;
	size_t overhead; /* of a message's size, so many bytes are the transport's own: send_buffer and recv_buffer have
			    as many less */
};

extern const char *const role_names[];	    /* by enum role */
extern const char *const poll_mode_names[]; /* by enum poll_mode; NULL ends */

/* A reliable transport whose messages are all payload, all signalled, from buffers of its own choice, but for what
 * ops->traits says. */
struct transport_traits transport_traits_of(const struct transport_ops *ops, const void *settings);

extern const struct transport_ops *const transports[]; /* NULL-terminated; harness/point/registry.c */
const struct transport_ops *transport_find(const char *name);

#endif
