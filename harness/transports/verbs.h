/*
 * InfiniBand verbs, through libibverbs and librdmacm: InfiniBand, RoCE and Soft-RoCE devices. A message is one send
 * with immediate; the immediate is its number, so that the payload is the user's alone.
 *
 *   verbs.c            the transport's table, its settings, what is done between repetitions
 *   verbs_device.c     which device, port and GID; what there is; port counters
 *   verbs_resources.c  buffers, completion queues, the queue pair
 *   verbs_plain.c      set-up with queue pair numbers exchanged through the coordinator
 *   verbs_cm.c         set-up by the RDMA connection manager
 *   verbs_hot.h        post, poll, wait
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
#include <rdma/rdma_cma.h>
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

/* The transport's settings; one row each in verbs_options. */
struct verbs_settings {
	int qp;			     /* enum verbs_qp */
	int connect;		     /* enum verbs_connect */
	char device[OPT_STR_MAX];    /* or "auto" */
	char port[OPT_STR_MAX];	     /* 1..255 or "auto" */
	char gid_index[OPT_STR_MAX]; /* 0..255 or "auto" */
	int mtu;		     /* 0: auto, else enum ibv_mtu */
};

/* "auto" is -1; a number in [min, max]; or -EINVAL. */
int verbs_number(const char *text, int min, int max);

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
	struct ibv_comp_channel *channel; /* event mode */
	uint64_t polled;
	unsigned events; /* got from the channel, not acknowledged yet: acknowledging takes a lock */
	bool armed;
	struct verbs_fault fault;
};

/* The posting thread's data. */
struct verbs_send {
	struct ibv_qp *qp;
	struct ibv_send_wr wr; /* prebuilt; number, immediate and address are all that changes */
	struct ibv_sge sge;
	uint64_t first, stride; /* buffer of message seq: first + (seq & mask) * stride */
	uint32_t mask;
	uint64_t posted;
	struct verbs_fault fault;
};

/* The receiving thread's data, beside its completion queue. */
struct verbs_recv {
	struct ibv_qp *qp;
	struct ibv_recv_wr wr;
	struct ibv_sge sge;
	uint64_t first, stride; /* as posted; the payload is `payload` bytes further */
	size_t payload;
	uint32_t last; /* buffer of the message last received */
	bool held;     /* and not released yet */
	struct verbs_fault fault;
};

/* Registered buffers of one direction. */
struct verbs_ring {
	uint32_t depth; /* work requests; 0: this direction is not used */
	uint32_t slots;
	size_t stride, lead; /* of a slot; bytes in front of its payload */
	struct memory memory;
	struct ibv_mr *mr;
};

struct verbs_cm {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener; /* sink */
	struct rdma_cm_id *id;	     /* of the connection */
	uint64_t token;		     /* sink: whoever connects has to show it */
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
	const struct verbs_setup *setup;
	struct verbs_retry retry;
	struct verbs_port port;
	char object[IBV_SYSFS_NAME_MAX + 32]; /* "rxe0 port 1", for messages */
	int mtu_bytes;			      /* of the path */

	struct ibv_context *context;
	struct ibv_pd *pd;
	struct verbs_ring send_ring, recv_ring;
	struct ibv_qp *qp;
	struct ibv_qp_cap cap; /* as granted */
	uint32_t psn, qkey;    /* plain: our own */
	uint32_t peer_qp_num;
	struct ibv_ah *ah; /* ud, source */
	bool is_filled;	   /* the receive queue, since the first prepare() */
	struct verbs_cm cm;

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

/* As transport_ops.failure. */
int verbs_failure(const struct transport *transport, struct err *e);

/* --- for the two set-ups --- */

int64_t verbs_monotonic_ns(void);

/* Change the queue pair's state; `a` holds it. */
int verbs_modify_qp(struct verbs *t, struct ibv_qp_attr *a, int mask, struct err *e);

/* Fill in the retries of a reliable connection. */
void verbs_fill_retry(const struct verbs *t, struct ibv_qp_attr *a);

/* ud, source: where all messages go. Takes an address handle out of `attr`. */
int verbs_aim(struct verbs *t, struct ibv_ah_attr *attr, uint32_t qp_num, uint32_t qkey, struct err *e);

/* A field of the peer's address, which is not trusted: an integer in [min, max], or a text. */
int verbs_peer_number(const json_t *peer, const char *key, int64_t min, int64_t max, int64_t *value, struct err *e);
const char *verbs_peer_text(const json_t *peer, const char *key, struct err *e); /* NULL if it is not */

#endif
