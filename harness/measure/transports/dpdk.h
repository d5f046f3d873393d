/*
 * UDP datagrams in frames that a process exchanges with a network card, or with another process, through a poll-mode driver
 * of DPDK. Both sides must be on one Ethernet segment; by default they are joined by a ring in shared memory (memif), for
 * which they need no rights. Frames are those of udp_frame.h.
 *
 * The library (Debian's librte_*) is loaded when a side is opened: its Environment Abstraction Layer (EAL) runs in the
 * endpoint's process only, is told everything, and leaves nothing in the file system.
 */
#ifndef KBLAT_TRANSPORTS_DPDK_H
#define KBLAT_TRANSPORTS_DPDK_H

#include "common/opt.h"
#include "measure/transports/loaded_library.h"
#include "measure/transports/udp_frame.h"

#define DPDK_BURST_MAX 512
#define DPDK_SIZE_MAX  8972 /* of UDP's payload in a frame of an MTU of 9000 */
#define DPDK_QUEUE_MAX 63
#define DPDK_SHIFT     10      /* of the frames that are sent, so that their payload begins on a cache line */
#define DPDK_MEMIF     "memif" /* a ring that kblat makes between the sides */
#define DPDK_XDP       "xdp"   /* no port: this side is one of the transport xdp, with the same frames */

struct dpdk_settings {
	char source_device[OPT_STR_MAX], sink_device[OPT_STR_MAX];
	char source_ip[OPT_STR_MAX], sink_ip[OPT_STR_MAX];
	int64_t udp_port, queue, rx_burst, descriptors, mempool, cache;
	bool huge;
};

#ifndef WITHOUT_DPDK

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_version.h>

/* What is used of the library. Bursts are called through its table of fast paths. */
#define DPDK_FUNCTIONS(X)                                                                                              \
	X(rte, eal_init)                                                                                               \
	X(rte, eal_hotplug_add)                                                                                        \
	X(rte, openlog_stream)                                                                                         \
	X(rte, version)                                                                                                \
	X(rte, thread_register)                                                                                        \
	X(rte, thread_unregister)                                                                                      \
	X(rte, pktmbuf_pool_create)                                                                                    \
	X(rte, pktmbuf_free_bulk)                                                                                      \
	X(rte, mempool_obj_iter)                                                                                       \
	X(rte, mempool_free)                                                                                           \
	X(rte, eth_dev_get_port_by_name)                                                                               \
	X(rte, eth_dev_info_get)                                                                                       \
	X(rte, eth_dev_configure)                                                                                      \
	X(rte, eth_dev_adjust_nb_rx_tx_desc)                                                                           \
	X(rte, eth_rx_queue_setup)                                                                                     \
	X(rte, eth_tx_queue_setup)                                                                                     \
	X(rte, eth_dev_start)                                                                                          \
	X(rte, eth_dev_stop)                                                                                           \
	X(rte, eth_dev_close)                                                                                          \
	X(rte, eth_dev_get_mtu)                                                                                        \
	X(rte, eth_link_get_nowait)                                                                                    \
	X(rte, eth_macaddr_get)                                                                                        \
	X(rte, eth_stats_get)                                                                                          \
	X(rte, eth_xstats_get_names)                                                                                   \
	X(rte, eth_xstats_get)                                                                                         \
	X(rte, eth_fp_ops)                                                                                             \
	X(per_lcore, _rte_errno)

extern struct dpdk_functions {
	DPDK_FUNCTIONS(LOADED_FIELD)
} dpdk_library;

/* A port of DPDK's, and its memory. */
struct dpdk_port {
	char name[OPT_STR_MAX]; /* "net_memif0", "0000:00:06.0" */
	char driver[32];
	char object[OPT_STR_MAX + 16]; /* "dpdk net_memif0", for messages */
	bool is_own_memif;	       /* made by kblat, over a socket that only both sides know */
	bool is_configured, is_started;
	uint16_t id, queue, rx_descriptors, tx_descriptors, mtu;
	unsigned interface; /* the kernel's, under a port of af_packet, af_xdp or tap; 0: none */
	uint32_t buffers;   /* to receive into */
	struct rte_mempool *receiving, *sending;
};

struct dpdk {
	struct transport base;
	struct frames frames; /* out and in: the message that is sent or received now */
	/* The queue's fast path, as rte_eth_rx_burst() and rte_eth_tx_burst() look it up in each call. */
	eth_rx_burst_t rx_burst;
	eth_tx_burst_t tx_burst;
	void *rx_queue, *tx_queue;
	struct rte_mbuf **out; /* by head: the frames to send; more than the driver keeps at a time */
	uint32_t mask, head;
	uint32_t listed;	     /* of them, before head: entered by post_more, and not sent yet */
	uint32_t in_length;	     /* of a frame that is received */
	uint16_t burst, taken, next; /* frames taken at a time, now, and of them the next one */
	uint32_t idle;		     /* polls since a frame was there */
	uint64_t badge;		     /* the first bytes of this side's token */
	uint64_t strangers, others;  /* frames without it that were meant for this side, and that were not */
	bool acknowledges;
	struct rte_mbuf *in[DPDK_BURST_MAX];
	/* --- control path --- */
	enum role role;
	struct dpdk_settings settings;
	struct dpdk_port port;
	uint32_t out_length;
	int64_t batch;			 /* frames that are posted in one list */
	char rendezvous[TOKEN_TEXT + 8]; /* of memif: the name of the sides' socket */
	struct udp_frame_end own, peer;
	unsigned char headers[UDP_FRAME_HEADERS], empty_headers[UDP_FRAME_HEADERS];
	char object[2 * OPT_STR_MAX];
};

extern const struct transport_ops dpdk_transport;

/* --- dpdk_port.c --- */

/* The text of a setting: a PCI address ("0000:00:06.0", "00:06.0", also with arguments)? */
bool dpdk_port_is_pci(const char *text);

/* Load the library and start the EAL, once in a process; `cpu`: of the side's threads, -1: none. For a card, the setting
 * `text` is checked first: whether it is there and bound to a driver that hands it over. */
int dpdk_port_begin(struct dpdk *t, const char *text, int cpu, struct err *e);

/* Make the port and start it. `text`: of the setting. */
int dpdk_port_open(struct dpdk *t, const char *text, struct err *e);

/* Wait until it has a link; for memif, until the other side is there. */
int dpdk_port_await_link(const struct dpdk *t, struct err *e);
bool dpdk_port_has_link(const struct dpdk *t);

void dpdk_port_close(struct dpdk *t);

/* Add its counters, by the names that DPDK gives them. */
void dpdk_port_count(const struct dpdk *t, json_t *counters);

#endif

#endif
