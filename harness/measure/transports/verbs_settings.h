/*
 * The settings of the transport verbs, and the types of queue pairs and operations that they refer
 * to.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_SETTINGS_H
#define KBLAT_TRANSPORTS_VERBS_SETTINGS_H

#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/opt.h"
#include "measure/transports/transport.h"

enum verbs_qp { VERBS_RC, VERBS_UC, VERBS_UD };
enum verbs_connect { VERBS_PLAIN, VERBS_RDMACM };
enum verbs_return { VERBS_RETURN_EACH, VERBS_RETURN_BULK };
enum verbs_recv_queue { VERBS_RECV_QP, VERBS_RECV_SRQ };
enum verbs_op {
	VERBS_SEND_IMM,
	VERBS_SEND,
	VERBS_WRITE_IMM,
	VERBS_WRITE,
	VERBS_READ,
	VERBS_FETCH_ADD,
	VERBS_COMPARE_SWAP,
};

#define VERBS_QUEUE_PAIRS_MAX 64

/* The transport's settings; each has a row in verbs_options. */
struct verbs_settings {
	int qp;			   /* enum verbs_qp */
	int connect;		   /* enum verbs_connect */
	int op;			   /* enum verbs_op */
	char inlined[OPT_STR_MAX]; /* "off", "on", or the maximum number of bytes */
	int64_t signal_every;
	int64_t buffers;	 /* of the sender; 0: as many as depth */
	int64_t recv_depth;	 /* 0: depth */
	int recv_queue;		 /* enum verbs_recv_queue */
	int64_t recv_sge;	 /* maximum number of scatter/gather entries of a receive request; one is used */
	int64_t queue_pairs;	 /* used in turn, with one shared receive queue and the same completion queues */
	int64_t receivers;	 /* queue pairs of the sink that each get every datagram */
	char group[OPT_STR_MAX]; /* "none", or the multicast group that they are in */
	int64_t regions;	 /* number of memory regions in which the receive buffers are registered */
	int returns;		 /* enum verbs_return */
	int64_t rd_atomic;	 /* 0: as many as depth and the devices allow */
	int64_t rnr_retry, rnr_timer, retry_cnt, ack_timeout, sl;
	bool huge_pages;
	char device[OPT_STR_MAX];					 /* or "auto" */
	char source_device[OPT_STR_MAX], sink_device[OPT_STR_MAX];	 /* "": as `device` */
	char port[OPT_STR_MAX];						 /* 1..255 or "auto" */
	char source_gid_index[OPT_STR_MAX], sink_gid_index[OPT_STR_MAX]; /* "": as `gid_index` */
	char gid_index[OPT_STR_MAX];					 /* 0..255 or "auto" */
	int mtu;							 /* 0: auto; otherwise enum ibv_mtu */
};

/* The name of a side's device; "auto" if none is set. */
const char *verbs_device_of(const struct verbs_settings *s, enum role role);
const char *verbs_gid_index_of(const struct verbs_settings *s, enum role role);

/* Does each message go to several queue pairs, or to a multicast group? */
bool verbs_has_group(const struct verbs_settings *s);
bool verbs_has_receivers(const struct verbs_settings *s);

/* -1 for "auto"; a number in [min, max]; or -EINVAL. */
int verbs_number(const char *text, int min, int max);

/* How many bytes of a message of `size` bytes are sent inline: none or all. -EINVAL if `text` is
 * neither "off", "on", nor a number of bytes. */
int64_t verbs_inline(const char *text, int64_t size);

/* A type of queue pair, and the attributes that its state changes require (ibv_modify_qp(3)). */
struct verbs_kind {
	const char *name;
	enum ibv_qp_type type;
	enum rdma_port_space port_space;
	bool is_reliable;
	size_t grh_bytes; /* that the device puts before a received payload */
	int init_mask, rtr_mask, rts_mask;
};

/* Where a message carries its number. */
enum verbs_carrier {
	VERBS_UNNUMBERED,   /* nowhere: nobody receives it, or looks at payloads; a receiver just counts */
	VERBS_IN_OPERANDS,  /* nowhere, but the operands of an atomic depend on it */
	VERBS_IN_IMMEDIATE, /* in the immediate data; the payload is entirely the user's */
	VERBS_IN_PAYLOAD,   /* its first 4 bytes */
	VERBS_IN_MEMORY,    /* its last 8 bytes (verbs_turn()), for which the receiver watches its memory */
};

struct verbs_operation {
	const char *name;
	enum ibv_wr_opcode opcode;
	enum verbs_carrier carrier;
	bool is_write;	   /* writes into a ring in the receiver's memory */
	size_t head, tail; /* bytes of the payload that are used by the number */
	/* IBV_ACCESS_* to that memory, which requires a connection, its address and its key; 0:
	 * none */
	unsigned access;
	bool sends, fetches, is_atomic;
};

extern const char *const verbs_connect_names[];
extern const struct verbs_kind verbs_kinds[];		/* by enum verbs_qp */
extern const struct verbs_operation verbs_operations[]; /* by enum verbs_op */

/* How messages carry their numbers, if the kernel needs them at all. */
enum verbs_carrier verbs_carrier_of(const struct verbs_operation *op, const struct transport_config *config);

/* See transport_ops.traits. */
void verbs_traits(const void *settings, struct transport_traits *out);

extern const struct opt verbs_options[];

/* verbs_check.c: are there contradictions between the settings, or between them and what the kernel requires? See
 * transport_ops.check. */
int verbs_check(const void *settings, const struct transport_config *config, char *why, size_t why_size);

#endif
