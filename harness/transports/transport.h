/*
 * A transport carries numbered messages from a source to a sink. Two halves:
 *
 * Control path: `struct transport_ops`, a table; called at set-up, between repetitions and at the end, by one thread.
 *
 * Hot path: static inline functions in transports/<name>_hot.h, from which every kernel is instantiated at compile time
 * (harness/kernels/):
 *
 *   int64_t <name>_begin(struct <name> *t)            stamp before an operation   } the tick counter; the scripted
 *   int64_t <name>_end(struct <name> *t)              stamp after one             } transport has a clock of its own
 *   int <name>_post(struct <name> *t, uint32_t seq)   post message seq; the caller keeps at most `depth` in flight. 0
 * or a negative errno int <name>_poll_send(struct <name> *t, uint32_t *seq)   one send completion: 1 and its number, 0
 * if there is none, or a negative errno int <name>_poll_recv(struct <name> *t, uint32_t *seq)   one received message: 1
 * and its number, 0, or a negative errno int <name>_release(struct <name> *t)              give the buffer of the
 * message last received back (post the receive again) int <name>_wait_send(struct <name> *t)            sleep until a
 * send completion may be there } event mode. 0, -EINTR (a signal: look at int <name>_wait_recv(struct <name> *t)
 * likewise for receiving                     } the stop flag), or a negative errno void <name>_kick_recv(struct <name>
 * *t)           event mode, after post: wake the other side if it sleeps (nothing to do where a device does it) void
 * <name>_kick_send(struct <name> *t)           event mode, after release: likewise int64_t <name>_pause(struct <name>
 * *t, int64_t until)   spin until `until` in ticks, or a while; returns the time now void *<name>_send_buffer(struct
 * <name> *t, uint32_t seq)  where the payload of seq is taken from at post (size bytes) const void
 * *<name>_recv_buffer(struct <name> *t)  payload of the message last received, until release
 *
 * A wait never sleeps through a message: arm, look once more, sleep. A negative errno from the hot path means that the
 * transport has noted what went wrong; ops->failure() tells it.
 */
#ifndef KBLAT_TRANSPORTS_TRANSPORT_H
#define KBLAT_TRANSPORTS_TRANSPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/opt.h"

struct err;

enum role { ROLE_SOURCE, ROLE_SINK };
enum poll_mode { POLL_BUSY, POLL_EVENT };

/* What an endpoint asks of a transport, beside the transport's own settings. */
struct transport_config {
	enum role role;
	enum poll_mode poll;
	int64_t size;	  /* payload bytes, >= 1 */
	int64_t depth;	  /* messages in flight at most; receive buffers likewise */
	int numa_node;	  /* for buffers; -1: where the caller runs */
	const char *name; /* unique for this run and point: [0-9a-f]{16}, for objects that need a name */
};

struct transport;

struct transport_ops {
	const char *name;
	const char *summary;	   /* one line for `kblat list` */
	const struct opt *options; /* settings of its own */
	unsigned poll_modes;	   /* bit 1 << enum poll_mode */
	bool has_own_clock;	   /* scripted: ticks are nanoseconds of a virtual time */

	/* Contradictions inside one point's params, found before anything starts, no device touched. NULL if there are
	 * none to find. `why` names both settings. 0 or -EINVAL. */
	int (*check)(const json_t *params, char *why, size_t why_size);

	/* Does the point's loss invalidate it? (rc, shmem: yes; uc, ud: it is counted) */
	bool (*is_reliable)(const json_t *params);

	/* Make the resources. `*address` (new reference) is what the peer needs in connect(). STATUS_IMPOSSIBLE in `e`
	 * where this machine or device can't. On failure nothing is left. */
	int (*open)(const struct transport_config *config, const json_t *params, struct transport **t, json_t **address,
		    struct err *e);

	/* Both sides are called at about the same time, each with the other's address. May wait for the other, at most
	 * 10 s. */
	int (*connect)(struct transport *t, const json_t *peer, struct err *e);

	/* Before every repetition, sink first: all receives posted, nothing of an earlier repetition left. */
	int (*prepare)(struct transport *t, struct err *e);

	/* What was really given: {"device": "rxe0", "mtu_bytes": 1024, "inline_bytes": 0, ...}. New reference. */
	json_t *(*granted)(const struct transport *t);

	/* Counters of the device under test, {"port_xmit_packets": 123, ...}; {} if it has none. New reference. Read
	 * between repetitions. */
	json_t *(*device_counters)(const struct transport *t);

	/* What the hot path stumbled on: fills `e` ("work completion 17 of the send queue: RNR retry counter exceeded
	 * (13), ...") and returns its errno. */
	int (*failure)(const struct transport *t, struct err *e);

	void (*close)(struct transport *t);
};

struct transport {
	const struct transport_ops *ops;
};

extern const struct transport_ops *const transports[]; /* NULL-terminated; harness/registry.c */
const struct transport_ops *transport_find(const char *name);

#endif
