/*
 * A transport carries numbered messages from a source to a sink (duplex: also back). It has two parts:
 *
 * Control path: `struct transport_ops`, a table of functions that one thread calls at set-up, between repetitions and at
 * the end.
 *
 * Hot path: functions that the kernels' loops call (harness/measure/kernels/). They are members of the same table, which
 * one instance of each loop calls. Or, of a transport that is inlined (transport_list.h), they are static inline functions
 * in transports/<name>_hot.h, for which every loop is compiled; then their names begin with <name>_, their first parameter
 * is `struct <name> *t`, and a macro says which of the optional ones there are:
 *
 *   int64_t begin()               stamp before an operation    } from the tick counter; the scripted transport has
 *   int64_t end()                 stamp after one              } its own clock
 *   int64_t pause(until)          spin until `until` in ticks, or for a short while; returns the current time
 *   void *send_buffer(seq)        where post takes the payload of message seq from (size bytes)
 *   int post(seq, signal)         post message seq; the caller keeps at most `depth` in flight. Without `signal`, the
 *                                 completion is not needed, and a device need not report it
 *   int poll_send(&seq)           one send completion: 1 and its number (all earlier messages are complete, too), or 0
 *   int poll_recv(&seq)           one received message: 1 and its number, or 0
 *   const void *recv_buffer()     payload of the message received last, valid until release
 *   int release()                 return the buffer of the message received last (post the receive again)
 *   int wait_send()               sleep until there may be a send completion    } if not busy: 0, or -EINTR after a
 *   int wait_recv()               sleep until there may be a message            } signal: check the stop flag
 *   int poll_send_stamped(&seq, &device), poll_recv_stamped(&seq, &device)
 *                                 the same, with the device's own stamp; only if TRANSPORT_STAMPS is defined as 1
 *   void take_stages()            after post: store the kernel's stamps of sending that have come; only if
 *                                 TRANSPORT_STAGES is defined as 1, as is then poll_recv_stamped with the kernel's stamp
 *   bool fetched(seq)             has the completed message seq fetched the expected data? Only if TRANSPORT_FETCHES is
 *                                 defined as 1; whether messages fetch data depends on transport_traits.fetches
 *   int serve()                   the passive side of one-sided operations: do what the other side needs of it; called
 *                                 until the end, only if TRANSPORT_SERVES is defined as 1; otherwise that side sleeps
 *   int part()                    a side of one-sided operations in both directions whose own are complete: tell the
 *                                 other, and serve it; 1 when it has ended, too, or 0; with TRANSPORT_SERVES
 *   void wake_recv()              after post: wake the other side if it may sleep; only if TRANSPORT_WAKES is defined
 *                                 as 1, because no device does it
 *   void wake_send()              the same after release
 *   int post_try(seq, signal)     like post, but never waits: 1, or 0 if it is not possible now; then call it again with
 *                                 the same seq. Only if TRANSPORT_POST_WAITS is defined as 1; otherwise post never waits
 *   int post_more(seq, signal)    add the post of message seq to a list of at most config->batch
 *   int flush()                   post the list; both only if TRANSPORT_LISTS is defined as 1
 *   int poll_sends(&seq)          like poll_send for several completions at once: their count, and the number of the
 *                                 last one; only if TRANSPORT_POLLS_MANY is defined as 1
 *   int post_empty(seq, signal)   like post for a message without payload, for which recv_buffer() is not valid; only if
 *                                 config->acknowledges, and if TRANSPORT_POSTS_EMPTY is defined as 1
 *   int register_memory(data, size, &handle), deregister_memory(handle)
 *                                 register memory with the device, and deregister it; only if TRANSPORT_REGISTERS is
 *                                 defined as 1. Here the caller reports errors
 *
 *   int set_up(&handle), tear_down(handle)
 *                                 set up a connection without the other side, and undo that; only if TRANSPORT_CONNECTS
 *                                 is defined as 1. Here the caller reports errors
 *
 * Functions that return an int return 0, or the values given above, or a negative errno. In the last case the transport
 * has kept the details, which ops->failure() reports. TRANSPORT_POLL_IS_A_LOAD is defined if poll_recv() without a
 * message only loads a cache line that the other side writes. TRANSPORT_POST_IS_A_SYSCALL is defined if a post takes so
 * long that specialising the loops would gain nothing. A wait must not sleep if there is a message already: the first
 * call may only arm the event and return, so the caller polls between two waits. In a table, release and wait_send may be
 * NULL if there is nothing to do, post_try if post never waits, poll_sends if it is poll_send; begin, end and pause are
 * NULL unless has_own_clock. Waking the other side, serving it, fetching, registering and connecting are not in the table:
 * transports with these are inlined.
 */
#ifndef KBLAT_TRANSPORTS_TRANSPORT_H
#define KBLAT_TRANSPORTS_TRANSPORT_H

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/opt.h"
#include "files/rundir/checks.h"

struct device_clock_reading;
struct device_counter;
struct err;

enum role { ROLE_SOURCE, ROLE_SINK };
/* Adaptive: spin for a while, then sleep as in event mode. */
enum poll_mode { POLL_BUSY, POLL_EVENT, POLL_ADAPTIVE };

/* When a kernel's source submits messages, as far as its settings determine it. */
struct schedule {
	int64_t messages; /* maximum in a repetition; with a pacer, the number of steps */
	int64_t burst;	  /* messages between two pauses; 0: all of them */
	int64_t pause_ns;
	int64_t block;	 /* messages that share an entry of each column; 0: every message has its own */
	int64_t rate_hz; /* of the pacer; 0: there is none */
	int64_t tick_error_ppm, window_ns;
	bool keeps_first; /* of several steps due at once, the pacer takes the first; otherwise the last */
};

/* Properties that follow from a transport's settings. */
struct transport_traits {
	bool is_reliable;    /* a lost message makes the result invalid; otherwise it is only counted */
	bool is_one_sided;   /* operations involve no process on the other side, and nothing is received there */
	size_t overhead;     /* bytes of a message used by the transport itself; they are part of its size */
	int64_t buffers;     /* send buffers; 0: as many as needed; -1: not determined by the settings */
	bool copies_payload; /* when posting (inline): what is written to the buffer later is not sent */
	bool sends,
	    fetches; /* sends: messages carry bytes to the sink; fetches: the same request brings bytes from there */
	uint32_t signal_every;
	const char *device[2]; /* of each side (enum role), as named in the settings; "auto": any; NULL: none */
};

/* What a kernel requires of a transport, in addition to the transport's own settings. Before a point runs, everything
 * is filled in except what depends on the endpoint: role, numa_node, stop, name. */
struct transport_config {
	const struct transport_ops *ops;
	enum role role;
	enum poll_mode poll_send; /* how to wait for send completions */
	enum poll_mode poll_recv; /* how to wait for messages; except for busy, the transport must be able to sleep */
	bool duplex;		  /* both sides post and receive, as a round trip does */
	int64_t size;		  /* bytes of a message, including the transport's own; >= 1 */
	int64_t answer;		  /* size of the sink's messages, if it is different; 0: it is the same */
	int64_t depth;		  /* maximum number of messages in flight, and number of receive buffers */
	int64_t batch;		  /* maximum number of messages posted in one list; 0: no lists */
	bool is_stream;		  /* messages are sent without waiting for the other side */
	bool is_passive;	  /* likewise, and if the operation is one-sided, the other side does nothing */
	bool acknowledges;	  /* messages without a payload are sent, too: post_empty() */
	bool is_idle;		  /* no message is ever sent */
	bool any_payload;	  /* payloads are not read, so messages may share a buffer */
	int numa_node;		  /* for buffers; -1: that of the caller's CPU */
	int cpu;		  /* of the side's measuring thread; -1: it has none of its own */
	bool peer_is_here;	  /* the other side is on this host, */
	int peer_node;		  /* on a CPU of this node; -1: not known */
	const atomic_int *stop;	  /* not 0: end. A post that has to wait checks it and returns -EINTR */
	bool device_stamps;	  /* the device stamps completions with its own clock */
	bool rewrites;		  /* a thread rewrites the first 8 bytes of the payload while it is sent */
	struct schedule schedule;
	const char *name; /* unique to this run and point: [0-9a-f]{16}, for objects that need a name */
};

/* Bytes of a message sent by the sink, of one that this side sends, and of one that it receives. */
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

/* The larger of the two sizes. */
static inline int64_t transport_largest_bytes(const struct transport_config *c)
{
	return c->answer > c->size ? c->answer : c->size;
}

/* The setting that gives messages this size. */
static inline const char *transport_size_setting(const struct transport_config *c, int64_t bytes)
{
	return bytes == c->answer ? "answer" : "size";
}

/* The number of slots of a ring: rounded up to a power of two, so that indices can be wrapped with a mask. */
static inline uint32_t transport_ring_slots(int64_t asked)
{
	uint32_t slots = 1;

	while (slots < asked)
		slots *= 2;
	return slots;
}

struct transport;

/* The typical duration of a message, as an order of magnitude. Used only to forecast how long a point will take. */
struct transport_typical {
	int64_t post_ns;     /* one of many posts back to back */
	int64_t latency_ns;  /* one way, polled busily */
	int64_t sleeping_ns; /* one way, if the receiver sleeps */
};

struct transport_ops {
	const char *name;
	const char *summary;	   /* one line for `kblat list` */
	const struct opt *options; /* the transport's own settings; open() takes a struct filled from them */
	size_t settings_size;	   /* size of that struct; 0: it has no settings */
	unsigned poll_modes;	   /* bit 1 << enum poll_mode */
	bool has_own_clock;	   /* scripted: ticks are nanoseconds of a virtual time */
	bool has_device;	   /* there is a device under test, whose counters must show the traffic */
	bool is_exclusive;	   /* what it opens (a card, its queue) serves one endpoint at a time */
	/* Why nothing can be sent on this machine, and what to do; NULL: that shows when it is opened. */
	const char *(*absent)(void);
	bool has_wire;		/* device_counters() may include the bytes on the wire */
	bool completes_in_post; /* a message is complete when post returns, so nothing ever waits for completions */
	bool posts_lists;	/* TRANSPORT_LISTS */
	bool registers_memory;	/* TRANSPORT_REGISTERS */
	bool stamps_stages;	/* TRANSPORT_STAGES: read_clock() and device_stamps are the kernel's */
	bool answers_differ;	/* transport_config.answer is supported */
	bool shares_files;	/* files that one thread opens or closes are used by others: the library has its own, or
				      connections come while a thread measures */
	struct transport_typical typical;
	const struct counter_check
	    *checks;	     /* what its counters mean for the validity of a result; counter NULL ends, NULL: nothing */
	const char *missing; /* the library without which it was built; NULL: none */

	/* Checks for contradictions between its settings, and between them and what the kernel requires. It is called
	 * before anything starts and accesses no device. `why` names both settings. 0 or -EINVAL. NULL: there is
	 * nothing to check. */
	int (*check)(const void *settings, const struct transport_config *config, char *why, size_t why_size);

	/* Fill in what differs from the defaults of transport_traits_of(). NULL: nothing. */
	void (*traits)(const void *settings, struct transport_traits *out);

	/* Create the resources. `*address` (new reference) is what the peer needs in connect(). Objects that would
	 * remain in /dev/shm if this process were killed must have config->name in their names. STATUS_IMPOSSIBLE in
	 * `e` if this machine or device does not support it. On failure nothing is left behind. `settings` is used only
	 * during the call. */
	int (*open)(const struct transport_config *config, const void *settings, struct transport **t, json_t **address,
		    struct err *e);

	/* Called on both sides at about the same time, with the address of the other side. May wait for the other side,
	 * for at most 10 s. */
	int (*connect)(struct transport *t, const json_t *peer, struct err *e);

	/* Called before every repetition, first on the sink. Afterwards all receives are posted, and nothing of an
	 * earlier repetition is left. */
	int (*prepare)(struct transport *t, struct err *e);

	/* Called by each measuring thread before its loop: begins what belongs to this thread. NULL: nothing does. */
	void (*enter)(struct transport *t);

	/* Called by each measuring thread when its loop has ended: ends what belongs to this thread. NULL: nothing does. */
	void (*leave)(struct transport *t);

	/* Called now and then while no thread uses the transport, from connect() on: a library may still keep what its
	 * socket did not take, or owe the other side an answer. Errors show when the transport is used again. NULL:
	 * kernel, device or a thread of the library does that. */
	void (*idle)(struct transport *t);

	/* Reads the clock of device_stamps together with the tick counter, and returns what is known about it. Called
	 * between repetitions. NULL: there is no such clock. */
	int (*read_clock)(struct transport *t, struct device_clock_reading *now, struct device_counter *counter,
			  struct err *e);

	/* Where stamps that the loops do not store themselves go in the next repetition: a column of the recorder, by
	 * its name. Those of other names are ignored. NULL: there are none. */
	void (*set_column)(struct transport *t, const char *name, int64_t *data, uint64_t count);

	/* What was actually granted: {"device": "rxe0", "mtu_bytes": 1024, "inline_bytes": 0, ...}. New reference. */
	json_t *(*granted)(const struct transport *t);

	/* Counters of the device under test, {"port_xmit_packets": 123, ...}. New reference. Read between
	 * repetitions. NULL: it has none. */
	json_t *(*device_counters)(struct transport *t);

	/* Checks the memory of a passive side after a repetition in which `posted` messages were posted and completed.
	 * Returns the number of places whose content is wrong. NULL: there is nothing to check. */
	int64_t (*check_memory)(const struct transport *t, uint64_t posted);

	/* The error that stopped the hot path: fills `e` ("work completion 17 of the send queue: RNR retry counter
	 * exceeded (13), ...") and returns its errno. */
	int (*failure)(const struct transport *t, struct err *e);

	/* After a repetition whose hot path met no error: has the device failed in it nevertheless? Likewise. NULL: it
	 * does not tell. */
	int (*device_failure)(struct transport *t, struct err *e);

	void (*close)(struct transport *t);

	/* The hot path (above). */
	int64_t (*begin)(struct transport *t);
	int64_t (*end)(struct transport *t);
	int64_t (*pause)(struct transport *t, int64_t until);
	void *(*send_buffer)(struct transport *t, uint32_t seq);
	int (*post)(struct transport *t, uint32_t seq, bool signal);
	int (*post_try)(struct transport *t, uint32_t seq, bool signal);
	int (*post_empty)(struct transport *t, uint32_t seq, bool signal);
	int (*post_more)(struct transport *t, uint32_t seq, bool signal);
	int (*flush)(struct transport *t);
	void (*take_stages)(struct transport *t);
	int (*poll_send)(struct transport *t, uint32_t *seq);
	int (*poll_sends)(struct transport *t, uint32_t *seq);
	int (*poll_send_stamped)(struct transport *t, uint32_t *seq, uint64_t *stamp);
	int (*poll_recv)(struct transport *t, uint32_t *seq);
	int (*poll_recv_stamped)(struct transport *t, uint32_t *seq, uint64_t *stamp);
	const void *(*recv_buffer)(struct transport *t);
	int (*release)(struct transport *t);
	int (*wait_send)(struct transport *t);
	int (*wait_recv)(struct transport *t);
};

/*
 * Of a transport whose library was missing when kblat was built (common/features): its file is compiled with ABSENT, the
 * library's name, and its table consists of this, its name and its settings. No point runs over it.
 */
#define ABSENT_TRANSPORT                                                                                               \
	.summary = "not in this build, as " ABSENT " was missing (see the features)", .missing = ABSENT,               \
	.poll_modes = 1 << POLL_BUSY | 1 << POLL_EVENT | 1 << POLL_ADAPTIVE,                                           \
	.typical = {.post_ns = 1, .latency_ns = 1, .sleeping_ns = 1}, .answers_differ = true, .open = transport_absent
int transport_absent(const struct transport_config *config, const void *settings, struct transport **out,
		     json_t **address, struct err *e);

struct transport {
	const struct transport_ops *ops;
	size_t overhead; /* of a message's size, so many bytes are the transport's own: send_buffer and recv_buffer have
			    as many less */
};

extern const char *const role_names[];	    /* by enum role */
extern const char *const poll_mode_names[]; /* by enum poll_mode; NULL ends */

/* The defaults are those of a reliable transport without overhead that signals all messages and chooses its buffers
 * itself; ops->traits changes them. */
struct transport_traits transport_traits_of(const struct transport_ops *ops, const void *settings);

/* Records that so many bytes are to be locked, which this process' limit forbids: `less` names the settings that ask for less. -ENOMEM. */
int transport_memlock_too_low(const char *object, const char *operation, size_t bytes, const char *less, struct err *e);

/* ops->device_counters, or {} if it has none. New reference. */
json_t *transport_device_counters(struct transport *t);

extern const struct transport_ops *const transports[]; /* NULL-terminated; harness/measure/point/registry.c */
const struct transport_ops *transport_find(const char *name);

#endif
