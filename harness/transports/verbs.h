/*
 * InfiniBand verbs, through libibverbs and librdmacm: InfiniBand, RoCE and Soft-RoCE devices. A message is one work
 * request; `op` says which, and with that how its number gets to the other side (struct verbs_operation).
 *
 *   verbs.c            the transport's table, what is done between repetitions
 *   verbs_settings.c   its settings and their contradictions; the kinds of queue pairs and operations
 *   verbs_device.c     which device, port and GID; what there is; port counters
 *   verbs_resources.c  buffers, completion queues, the queue pair
 *   verbs_peer.c       what each side tells the other, and what follows from it
 *   verbs_plain.c      set-up with queue pair numbers exchanged through the coordinator
 *   verbs_cm.c         set-up by the RDMA connection manager
 *   verbs_hot.h        post, poll, wait
 *   verbs_stamps.c     completion queues with the device's own stamps
 *   verbs_memory.c     messages written to memory: what is rare about them
 *   verbs_watch.c      what the device tells of its own accord: its port or itself has failed
 *   verbs_failure.c    what went wrong there
 *
 * Queue pairs are always made here, in open(), whoever sets them up: so what a device cannot do is known before
 * anything is connected, and path MTU and retry counts are ours with the connection manager too.
 *
 * Threads: open, connect, prepare, granted, device_counters, failure and close belong to the control thread. While a
 * repetition runs, one thread may post, one poll or wait for send completions, one poll or wait for received messages;
 * their data lie in lines of their own.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_H
#define KBLAT_TRANSPORTS_VERBS_H

#include <infiniband/verbs.h>
#include <net/if.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/opt.h"
#include "instrument/memory.h"
#include "transports/transport.h"

/* Two cache lines: the adjacent-line prefetcher pulls them in pairs. */
#define VERBS_LINE 128

/* How long connect() and prepare() wait for the other side or the device. */
#define VERBS_PATIENCE_NS 10000000000LL

enum verbs_qp { VERBS_RC, VERBS_UC, VERBS_UD };
enum verbs_connect { VERBS_PLAIN, VERBS_RDMACM };
enum verbs_op { VERBS_SEND_IMM, VERBS_SEND, VERBS_WRITE_IMM, VERBS_WRITE };

/* The transport's settings; one row each in verbs_options. */
struct verbs_settings {
	int qp;			   /* enum verbs_qp */
	int connect;		   /* enum verbs_connect */
	int op;			   /* enum verbs_op */
	char inlined[OPT_STR_MAX]; /* "off", "on", or up to how many bytes */
	int64_t signal_every;
	int64_t buffers; /* of each direction; 0: as many as the operation needs */
	int64_t rnr_retry, retry_cnt, ack_timeout, sl;
	bool huge_pages;
	char device[OPT_STR_MAX];    /* or "auto" */
	char port[OPT_STR_MAX];	     /* 1..255 or "auto" */
	char gid_index[OPT_STR_MAX]; /* 0..255 or "auto" */
	int mtu;		     /* 0: auto, else enum ibv_mtu */
};

/* "auto" is -1; a number in [min, max]; or -EINVAL. */
int verbs_number(const char *text, int min, int max);

/* How many bytes of a message of that size go inline: none or all. -EINVAL where `text` says neither off, on, nor a
 * number of bytes. */
int64_t verbs_inline(const char *text, int64_t size);

/* --- devices (verbs_device.c) --- */

/* One port of one device, and how it is addressed. */
struct verbs_port {
	char device[IBV_SYSFS_NAME_MAX];
	int open_error; /* negative errno: the device could not be opened, nothing below is known */
	uint8_t number;
	enum ibv_port_state state;
	enum ibv_transport_type transport;
	uint8_t link_layer; /* IBV_LINK_LAYER_* */
	enum ibv_mtu active_mtu, max_mtu;
	uint32_t max_message_bytes;
	uint16_t lid;
	int gid_index; /* -1: no suitable GID */
	union ibv_gid gid;
	uint32_t gid_type; /* enum ibv_gid_type */
	bool use_grh; /* a global route header: always on Ethernet; on InfiniBand, where a GID index was asked for */
	char netdev[IF_NAMESIZE];
	int numa_node; /* -1: unknown */
	int max_qp_wr, max_cqe;
	char firmware[64];
	char driver[32];
};

/* The port that `s` asks for; of several, one on `numa_node` first (-1: no preference). STATUS_IMPOSSIBLE or
 * STATUS_USAGE. */
int verbs_port_choose(const struct verbs_settings *s, int numa_node, struct verbs_port *out, struct err *e);

/* Open the device of a port; NULL and `e` if it can't be. */
struct ibv_context *verbs_port_open(const struct verbs_port *p, struct err *e);

/* All numbers below ports/P/counters and ports/P/hw_counters, by file name, as of now: the kernel's cache is
 * waited out, which takes about 15 ms. New reference. */
json_t *verbs_port_counters(const struct verbs_port *p);

/* What is known of a port: name, port, state, link_layer, gid, netdev, numa_node, limits, driver. New reference. */
json_t *verbs_port_json(const struct verbs_port *p);

/* Every port of every device, as an array of verbs_port_json(). An empty one, not an error, where there is no device.
 */
int verbs_devices(json_t **list, struct err *e);

static inline int verbs_mtu_bytes(enum ibv_mtu mtu)
{
	return 128 << mtu;
}

/* The largest MTU of at most so many bytes. */
static inline enum ibv_mtu verbs_mtu(int bytes)
{
	enum ibv_mtu mtu = IBV_MTU_256;

	while (mtu < IBV_MTU_4096 && verbs_mtu_bytes(mtu) * 2 <= bytes)
		mtu++;
	return mtu;
}

/* --- an open endpoint --- */

/* A queue pair type, and which attributes its state changes take (ibv_modify_qp(3)). */
struct verbs_kind {
	const char *name;
	enum ibv_qp_type type;
	enum rdma_port_space port_space;
	bool is_reliable;
	size_t grh_bytes; /* put by the device in front of a received payload */
	int init_mask, rtr_mask, rts_mask;
};

/* Where a message's number travels. */
enum verbs_carrier {
	VERBS_IN_IMMEDIATE, /* the payload is the user's alone */
	VERBS_IN_PAYLOAD,   /* its first 4 bytes */
	VERBS_IN_MEMORY,    /* its last 8 bytes (verbs_turn()), for which the receiver watches its memory */
};

struct verbs_operation {
	const char *name;
	enum ibv_wr_opcode opcode;
	enum verbs_carrier carrier;
	bool is_write;	   /* into a ring of the receiver's memory: needs a connection, its address and its key */
	size_t head, tail; /* bytes of the payload that the number takes */
};

extern const char *const verbs_connect_names[];
extern const struct verbs_kind verbs_kinds[];		/* by enum verbs_qp */
extern const struct verbs_operation verbs_operations[]; /* by enum verbs_op */

/* As transport_ops.check. */
int verbs_check(const void *settings, const struct transport_config *config, char *why, size_t why_size);
void verbs_traits(const void *settings, struct transport_traits *out);

/* The first thing that went wrong at one place of the hot path. */
struct verbs_fault {
	int rc;		       /* negative errno; 0: nothing */
	const char *operation; /* what was tried; NULL: a work completion said so */
	enum ibv_wc_status status;
	uint32_t vendor_error;
	uint64_t wr_id;
};

/* A completion queue; its thread's data. */
struct verbs_cq {
	struct ibv_cq *cq;
	struct ibv_cq_ex *stamped;	  /* the same, where the device stamps its completions; else NULL */
	struct ibv_comp_channel *channel; /* event mode */
	uint64_t polled;
	unsigned events; /* got from the channel, not acknowledged yet: acknowledging takes a lock */
	bool armed;
	struct verbs_fault fault;
};

/* The posting thread's data. */
struct verbs_send {
	struct ibv_qp *qp;
	struct ibv_send_wr wr; /* prebuilt; number, immediate, addresses and the wish for a completion change */
	struct ibv_sge sge;
	uint64_t first, stride; /* buffer of message seq: first + (seq & mask) * stride */
	/* A write's target, likewise. It shares its place in the work request with a datagram's address handle, so for
	 * datagrams remote_first is that, and remote_stride 0. */
	uint64_t remote_first, remote_stride;
	uint32_t mask, remote_mask;
	unsigned flags; /* IBV_SEND_*, without the wish for a completion */
	enum verbs_carrier carrier;
	size_t head; /* bytes in front of the user's payload */
	uint64_t posted, signalled;
	struct verbs_fault fault;
};

/* The receiving thread's data, beside its completion queue. */
struct verbs_recv {
	struct ibv_qp *qp;
	struct ibv_recv_wr wr;
	struct ibv_sge sge;
	uint64_t first, stride; /* as posted; the payload is `payload` bytes further */
	size_t payload;
	enum verbs_carrier carrier;
	uint32_t slot_of_last, slot_of_seq; /* masks: which of the two says where the message lies */
	uint32_t last, seq;		    /* of the message last received: what is to be released; its number */
	bool held;			    /* and not released yet */
	/* Messages written to memory: */
	bool may_lose;
	uint32_t mask, taken; /* of slots; messages so far */
	uint32_t probe;	      /* slots looked at ahead of time */
	size_t turn;	      /* where the turn lies in a slot as posted */
	struct verbs_fault fault;
};

/* Registered buffers of one direction. */
struct verbs_ring {
	uint32_t depth;	     /* work requests; may be 0 */
	uint32_t slots;	     /* 0: this direction is not used */
	size_t stride, lead; /* of a slot; bytes in front of its payload */
	struct memory memory;
	struct ibv_mr *mr;
};

#define VERBS_REMOVED 1000 /* beside enum ibv_event_type */

/* A thread that sleeps until the device tells of something. */
struct verbs_watch {
	pthread_t thread;
	int stop_fd;	  /* eventfd; -1: there is no thread */
	int kernel_fd;	  /* netlink socket; -1: could not be had */
	atomic_int event; /* 1 + the first bad one: enum ibv_event_type or VERBS_REMOVED; 0: none */
};

struct verbs_cm {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener; /* sink */
	struct rdma_cm_id *id;	     /* of the connection */
	uint64_t token;		     /* sink: whoever connects has to show it */
	uint32_t qkey;		     /* ud: our own */
	struct sockaddr_storage local;
};

/* Retries of a reliable connection (attributes of ibv_modify_qp). */
struct verbs_retry {
	uint8_t timeout, retry_cnt, rnr_retry, min_rnr_timer;
};

struct verbs;

/* The two ways to set a queue pair up. Each works on the resources that open() has made. */
struct verbs_setup {
	/* Set t->context. */
	int (*open)(struct verbs *t, struct err *e);
	/* Bring the queue pair as far as it gets alone; put what the peer needs into `address`. */
	int (*publish)(struct verbs *t, json_t *address, struct err *e);
	/* Bring it to RTS, towards the peer. At most until `deadline` (monotonic_ns). */
	int (*connect)(struct verbs *t, const json_t *peer, int64_t deadline, struct err *e);
	/* Undo open(), last of all. */
	void (*close)(struct verbs *t);
};

extern const struct verbs_setup verbs_setup_plain, verbs_setup_cm;

struct verbs {
	struct transport base;
	struct verbs_settings settings;
	struct transport_config config;
	const struct verbs_kind *kind;
	const struct verbs_operation *operation;
	const struct verbs_setup *setup;
	struct verbs_retry retry;
	struct verbs_port port;
	char object[IBV_SYSFS_NAME_MAX + 32]; /* "rxe0 port 1", for messages */
	int mtu_bytes;			      /* of the path */
	int64_t inline_bytes;		      /* of a message: none or all */
	bool hw_timestamps;		      /* completion queues of this device can have them */

	struct ibv_context *context;
	struct ibv_pd *pd;
	struct verbs_ring send_ring, recv_ring;
	struct ibv_qp *qp;
	struct ibv_qp_cap cap; /* as granted */
	uint32_t psn, qkey;    /* plain: our own */
	uint32_t peer_qp_num;
	struct ibv_ah *ah;   /* ud, of the peer */
	uint64_t clock_mask; /* of the device's clock */
	bool is_filled;	     /* the receive queue, since the first prepare() */
	struct verbs_cm cm;
	struct verbs_watch watch;

	_Alignas(VERBS_LINE) struct verbs_send send;
	_Alignas(VERBS_LINE) struct verbs_cq send_cq;
	_Alignas(VERBS_LINE) struct verbs_recv recv;
	_Alignas(VERBS_LINE) struct verbs_cq recv_cq;
};

extern const struct transport_ops verbs_transport;
extern const struct opt verbs_options[];

/* Make all that t->settings and t->config ask for, t->context first; on failure nothing is left. */
int verbs_resources_open(struct verbs *t, struct err *e);
void verbs_resources_close(struct verbs *t);

/* Give the events of a completion queue back: destroying it waits for that. */
void verbs_cq_acknowledge(struct verbs_cq *q);

/* How many slots of what shape this side's peer finds here: the same at both sides. */
struct verbs_ring verbs_recv_ring(const struct verbs *t);

/* Wait for bad news from now on, until verbs_unwatch(). They bring the queue pair to its error state, which wakes
 * whoever waits for a completion, busily or not. */
int verbs_watch(struct verbs *t, struct err *e);
void verbs_unwatch(struct verbs *t);

/* Take one event of the connection manager's, after the connection stands. Is the device being removed? */
bool verbs_cm_says_removed(struct verbs *t);

/* A completion queue with stamps of the device's clock, into q->cq and q->stamped; q->channel stands. */
int verbs_stamped_cq(struct verbs *t, struct verbs_cq *q, uint32_t depth, struct err *e);

/* Does the device stamp completions? */
bool verbs_has_stamps(struct verbs *t);

/* As transport_ops.read_clock. */
int verbs_read_clock(struct transport *transport, struct device_clock_reading *now, uint64_t *mask, struct err *e);

/* As transport_ops.failure. */
int verbs_failure(const struct transport *transport, struct err *e);

/* "SETTING VALUE is above what the device can do: LIMIT is MOST". */
int verbs_impossible(const struct verbs *t, struct err *e, const char *setting, int64_t value, const char *limit,
		     int64_t most);

/* --- what each side tells the other (verbs_peer.c) --- */

/* The address of this endpoint, as transport_ops.open gives it. */
int verbs_publish(struct verbs *t, json_t **address, struct err *e);

/* Check the peer's, and take out of it what all set-ups need. */
int verbs_meet(struct verbs *t, const json_t *peer, struct err *e);

/* Where this side's port is, into its address; and the way to the peer's port, out of its. */
void verbs_publish_route(const struct verbs *t, json_t *address);
int verbs_read_route(const struct verbs *t, const json_t *peer, struct ibv_ah_attr *route, struct err *e);

/* A field of the peer's address, which is not trusted: an integer in [min, max], or a text. */
int verbs_peer_number(const json_t *peer, const char *key, int64_t min, int64_t max, int64_t *value, struct err *e);
const char *verbs_peer_text(const json_t *peer, const char *key, struct err *e); /* NULL if it is not */

/* --- for the two set-ups --- */

int64_t verbs_monotonic_ns(void);

/* What the peer may do with this side's memory: IBV_ACCESS_*. */
static inline unsigned verbs_access(const struct verbs *t)
{
	return t->operation->is_write ? IBV_ACCESS_REMOTE_WRITE : 0;
}

/* Change the queue pair's state; `a` holds it. */
int verbs_modify_qp(struct verbs *t, struct ibv_qp_attr *a, int mask, struct err *e);

/* Fill in the retries of a reliable connection. */
void verbs_fill_retry(const struct verbs *t, struct ibv_qp_attr *a);

/* ud, who posts: where all messages go. Takes an address handle out of `attr`. */
int verbs_aim(struct verbs *t, struct ibv_ah_attr *attr, uint32_t qp_num, uint32_t qkey, struct err *e);

#endif
