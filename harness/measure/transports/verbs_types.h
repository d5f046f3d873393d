/*
 * InfiniBand verbs, through libibverbs and librdmacm: InfiniBand, RoCE and iWARP devices. A message
 * is one work request. `op` determines its kind, and thus how the message's number reaches the
 * other side (struct verbs_operation).
 *
 *   verbs_types.h      what all of them share
 *   verbs.c            the transport's table, what is done between repetitions
 *   verbs_settings.c   its settings; the kinds of queue pairs and operations
 *   verbs_check.c      contradictions between settings
 *   verbs_device.c     which device, port and GID; what there is
 *   verbs_gids.c       tables of GIDs, and which entries of two tables go together
 *   verbs_limits.c     what the device can do, against what is asked for; what it is short of
 *   verbs_counters.c   what a port counts
 *   verbs_ring.c       buffers: their shape, memory, regions
 *   verbs_resources.c  completion queues (also with the device's stamps), the queue pair and its
 *                      states; all that an endpoint holds
 *   verbs_srq.c        the shared receive queue
 *   verbs_peer.c       what each side tells the other, and what follows from it; set-up through the
 *                      coordinator
 *   verbs_cm.c         set-up by the RDMA connection manager
 *   verbs_hot.h        post, poll, wait
 *   verbs_hot.c        what is rare about that: errors, lists of requests, messages in memory
 *   verbs_watch.c      what the device tells of its own accord: its port or itself has failed
 *
 * Queue pairs are always created by open(), even if the connection manager sets them up. So limits
 * of a device are known before anything is connected, and path MTU and retry counts can be chosen
 * with the connection manager, too.
 *
 * Threads: open, connect, prepare, granted, device_counters, failure and close belong to the
 * control thread. While a repetition runs, one thread may post, one poll or wait for send
 * completions, one poll or wait for received messages; their data is in separate cache lines.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_TYPES_H
#define KBLAT_TRANSPORTS_VERBS_TYPES_H

#include <pthread.h>
#include <stdatomic.h>

#include "measure/instrument/device_clock.h"
#include "measure/instrument/memory.h"
#include "measure/transports/verbs_device.h"
#include "measure/transports/verbs_settings.h"

/* Two cache lines, because the adjacent-line prefetcher fetches them in pairs. */
#define VERBS_LINE 128

/* How long connect() and prepare() wait for the other side or the device. */
#define VERBS_PATIENCE_NS 10000000000LL

/* The first error of one part of the hot path. */
struct verbs_fault {
	int rc;		       /* negative errno; 0: none */
	const char *operation; /* the operation that failed; NULL: a work completion reported it */
	enum ibv_wc_status status;
	uint32_t vendor_error;
	uint64_t wr_id;
};

/* A completion queue, and the data of its thread. */
struct verbs_cq {
	struct ibv_cq *cq;
	struct ibv_cq_ex *stamped;	  /* the same if the device stamps its completions; otherwise NULL */
	struct ibv_comp_channel *channel; /* event mode */
	uint64_t polled;
	unsigned events; /* received from the channel, but not acknowledged yet, because that takes a lock */
	bool armed;
	struct verbs_fault fault;
};

/* The data of the posting thread. */
struct verbs_send {
	struct ibv_qp *qp;
	struct ibv_send_wr wr; /* prebuilt; only number, immediate data, addresses and IBV_SEND_SIGNALED change */
	struct ibv_sge sge;
	uint64_t first, stride; /* buffer of message seq: first + (seq & mask) * stride */
	/* The target of a write, likewise. In the work request it shares its place with the address
	 * handle of a datagram, so for datagrams remote_first is that handle, and remote_stride is
	 * 0. */
	uint64_t remote_first, remote_stride;
	uint32_t mask, remote_mask;
	unsigned remote_shift; /* the number of bits of remote_mask */
	unsigned flags;	       /* IBV_SEND_*, except for IBV_SEND_SIGNALED */
	enum verbs_carrier carrier;
	bool prepares; /* the next message needs other operands, or another queue pair */
	size_t head;   /* bytes in front of the user's payload */
	uint64_t posted, signalled;
	struct verbs_fault fault;
	/* Requests that are posted together (a kernel's batch): */
	struct verbs_send_request *list; /* linked; NULL: each is posted at once */
	uint32_t listed;
	/* Of several queue pairs: all of them, and the one in use. */
	struct ibv_qp *const *pairs;
	uint32_t pair_count, pair;
	/* Of several receivers: the datagrams to all but the first, linked behind `wr`. */
	struct ibv_send_wr *copies;
};

/* A send request in a list of several. */
struct verbs_send_request {
	struct ibv_send_wr wr;
	struct ibv_sge sge;
};

/* A receive request in a list, likewise. */
struct verbs_request {
	struct ibv_recv_wr wr;
	struct ibv_sge sge;
};

/* The data of the receiving thread, in addition to its completion queue. */
struct verbs_recv {
	struct ibv_qp *qp;
	struct ibv_recv_wr wr;
	struct ibv_sge sge;
	uint64_t first, stride; /* as posted; the payload begins after `payload` bytes */
	size_t payload;
	enum verbs_carrier carrier;
	uint32_t slot_of_last, slot_of_seq; /* masks that select which of the two determines the message's slot */
	uint32_t last, seq;		    /* of the message last received: the slot to release; its number */
	bool held;			    /* it has not been released yet */
	/* Of each message, its copies to be received; 0: it comes once. Those received so far, and of which message: */
	uint32_t receivers, copies, copy_of;
	/* Messages written to memory: */
	bool may_lose;
	uint32_t mask, taken; /* of slots; messages so far (in this repetition if they have no number) */
	uint32_t probe;	      /* slots examined in advance */
	/* Requests that are posted together (`return: bulk`), or differ in more than their address: */
	struct verbs_request *bulk; /* linked; NULL: each is posted at once */
	uint32_t bulk_size, released;
	size_t turn; /* offset of the turn in a slot as posted */
	struct verbs_fault fault;
	/* With `bulk`: */
	uint32_t *lkey;	     /* of each slot's memory region */
	struct ibv_srq *srq; /* receive requests go there; NULL: to the queue pair */
};

/* Registered buffers of one direction. */
struct verbs_ring {
	uint32_t depth;	     /* work requests; may be 0 */
	uint32_t slots;	     /* 0: this direction is not used */
	size_t stride, lead; /* of a slot; bytes before its payload */
	struct memory memory;
	struct ibv_mr **mr; /* of each part; NULL: nothing is registered */
	uint32_t regions;   /* number of parts, of about the same size */
};

#define VERBS_REMOVED 1000 /* in addition to enum ibv_event_type */

/* A thread that sleeps until the device reports an event. */
struct verbs_watch {
	pthread_t thread;
	int stop_fd;	  /* eventfd; -1: there is no thread */
	int kernel_fd;	  /* netlink socket; -1: not available */
	atomic_int event; /* 1 + the first fatal event (enum ibv_event_type or VERBS_REMOVED); 0: none */
	/* held by whoever takes an event of the device and counts it */
	pthread_mutex_t taking;
	/* how often the shared receive queue was empty, counted at most once per repetition */
	_Atomic int64_t srq_limits;
};

struct verbs_cm {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener; /* sink */
	struct rdma_cm_id *id;	     /* of the connection */
	uint64_t token;		     /* sink: the peer must present it when it connects */
	struct sockaddr_storage local;
};

/* Retries of a reliable connection (attributes of ibv_modify_qp). */
struct verbs_retry {
	uint8_t timeout, retry_cnt, rnr_retry, min_rnr_timer;
};

/* A shared receive queue. */
struct verbs_srq {
	struct ibv_srq *srq;	  /* NULL: receive requests go to the queue pair */
	uint32_t max_wr, max_sge; /* as granted */
	/* When a queue pair fails, the requests of a shared queue are not flushed, so a thread
	 * waiting for a message would not notice. Therefore this extra queue pair has a request of
	 * its own, and is made to fail with the other one. */
	struct ibv_qp *alarm;
};

struct verbs;

/* The two ways to set up a queue pair. Both use the resources that open() has created. */
struct verbs_setup {
	/* Set t->context. */
	int (*open)(struct verbs *t, struct err *e);
	/* Advance the queue pair as far as possible without the peer; add what the peer needs to `address`. */
	int (*publish)(struct verbs *t, json_t *address, struct err *e);
	/* Connect to the peer and bring the queue pair to RTS, at most until `deadline` (monotonic_ns). */
	int (*connect)(struct verbs *t, const json_t *peer, int64_t deadline, struct err *e);
	/* Undo open(); called last. */
	void (*close)(struct verbs *t);
};

struct verbs {
	struct transport base;
	struct verbs_settings settings;
	struct transport_config config;
	const struct verbs_kind *kind;
	const struct verbs_operation *operation;
	const struct verbs_setup *setup;
	enum verbs_carrier carrier; /* that of the operation, unless no number is needed; and what follows from it: */
	size_t head, tail;
	/* maximum number of outstanding reads and atomics: of this side's device; after
	 * connecting, of both */
	uint8_t rd_atomic;
	struct verbs_retry retry;
	struct verbs_port port;
	char object[IBV_SYSFS_NAME_MAX + 32]; /* "rxe0 port 1", for messages */
	int mtu_bytes;			      /* of the path */
	int64_t inline_bytes;		      /* bytes of a message that are inline: none or all */
	int64_t recv_depth;		      /* number of receive requests; with op write, of slots */
	bool hw_timestamps;		      /* completion queues of this device support them */

	struct ibv_context *context;
	struct ibv_pd *pd;
	struct verbs_ring send_ring, recv_ring;
	struct verbs_srq srq;
	struct ibv_qp *qp;			     /* the first one */
	struct ibv_qp *pairs[VERBS_QUEUE_PAIRS_MAX]; /* all of them */
	uint32_t peer_pairs[VERBS_QUEUE_PAIRS_MAX];  /* their numbers on the other side */
	uint32_t pair_count;
	struct ibv_qp_cap cap; /* as granted */
	uint32_t psn, qkey;    /* this side's, random */
	uint32_t peer_qp_num;
	struct ibv_ah *ah; /* ud, of the peer, or of the group */
	struct {
		uint32_t attached; /* queue pairs */
		struct ibv_ah_attr route;
		uint32_t qp_num, qkey;
	} group;
	struct device_counter counter; /* of the device's clock */
	bool is_filled;		       /* the receive queue was filled by the first prepare() */
	struct verbs_cm cm;
	struct verbs_watch watch;
	json_t *gids; /* what the other side was told of this port's table; NULL: nothing */

	_Alignas(VERBS_LINE) struct verbs_send send;
	_Alignas(VERBS_LINE) struct verbs_cq send_cq;
	_Alignas(VERBS_LINE) struct verbs_recv recv;
	_Alignas(VERBS_LINE) struct verbs_cq recv_cq;
};

static inline size_t verbs_ring_bytes(const struct verbs_ring *r)
{
	return r->slots * r->stride;
}

/* Does the receiver post receive requests? */
static inline bool verbs_has_receives(const struct verbs *t)
{
	return t->carrier != VERBS_IN_MEMORY && !t->config.is_passive;
}

/* The peer's access to this side's memory: IBV_ACCESS_*. */
static inline unsigned verbs_access(const struct verbs *t)
{
	return t->operation->access;
}

extern const struct transport_ops verbs_transport;

/*
 * verbs_ring.c: message buffers of one direction: their number and shape, their memory, and the
 * memory regions in which it is registered.
 */

/* Determine the shapes of both rings of this side. */
void verbs_ring_sizes(struct verbs *t);

/* The number and shape of the slots into which this side's peer writes; both sides compute the same. */
struct verbs_ring verbs_recv_ring(const struct verbs *t);

/* Allocate and register a ring if it has slots; on failure nothing is left behind. */
int verbs_ring_open(struct verbs *t, struct verbs_ring *r, struct err *e);
void verbs_ring_close(struct verbs_ring *r);

/* The key of a slot's memory region; 0: there is none. */
uint32_t verbs_ring_lkey(const struct verbs_ring *r, uint32_t slot);

/* verbs_watch.c: asynchronous events of a device: it or its port has failed. Watch for fatal events until
 * verbs_unwatch(). They put the queue pair into the error state, which ends every wait for a completion, busy or
 * not. */
int verbs_watch(struct verbs *t, struct err *e);
void verbs_unwatch(struct verbs *t);

/* How often the shared receive queue ran empty, events included that the thread has not taken yet. */
int64_t verbs_watch_srq_limits(struct verbs *t);

/* See transport_ops.device_failure. */
int verbs_device_failure(struct transport *transport, struct err *e);

#endif
