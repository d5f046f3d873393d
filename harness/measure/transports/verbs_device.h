/*
 * RDMA devices: which exist, and which port and GID a point uses. doctor and list need nothing else
 * of verbs.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_DEVICE_H
#define KBLAT_TRANSPORTS_VERBS_DEVICE_H

#include <infiniband/verbs.h>
#include <jansson.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "measure/transports/transport.h"
#include "measure/transports/verbs_gids.h"

struct err;
struct verbs_settings;

/* A port of a device, and its address. */
struct verbs_port {
	char device[IBV_SYSFS_NAME_MAX];
	int open_error; /* negative errno: the device could not be opened, and the rest is unknown */
	uint8_t number;
	enum ibv_port_state state;
	enum ibv_transport_type transport;
	uint8_t link_layer; /* IBV_LINK_LAYER_* */
	enum ibv_mtu active_mtu, max_mtu;
	uint32_t max_message_bytes;
	int64_t link_bits_per_s; /* of the port, per direction; 0: unknown */
	uint16_t lid, sm_lid;	 /* its own, and that of the subnet manager */
	int gid_index;		 /* -1: no suitable GID */
	union ibv_gid gid;
	uint32_t gid_type; /* enum ibv_gid_type */
	/* use a global route header: always on Ethernet; on InfiniBand only if a GID index was
	 * asked for */
	bool use_grh;
	char netdev[IF_NAMESIZE];
	int numa_node; /* -1: unknown */
	int max_qp_wr, max_cqe;
	int max_sge, max_mr;
	int max_mcast_qp_attach;		 /* queue pairs in a multicast group; 0: it has none */
	int max_srq, max_srq_wr, max_srq_sge;	 /* shared receive queues; max_srq 0: not supported */
	int max_qp_rd_atom, max_qp_init_rd_atom; /* outstanding reads and atomics: as a target, as an initiator */
	bool has_atomics;
	char firmware[64];
	char driver[32];
	const char *software; /* "Soft-RoCE": what it is, if it is no adapter; otherwise NULL */
};

/*
 * Find the port that `s` asks for on the side `config->role`. STATUS_IMPOSSIBLE or STATUS_USAGE. If both sides are on this
 * host, neither names a device, and two ports are cabled with each other, each side gets one of these, so that messages go
 * over the cable. If there are several choices, preferably one on the side's NUMA node.
 */
int verbs_port_choose(const struct verbs_settings *s, const struct transport_config *config, struct verbs_port *out,
		      struct err *e);

/* Address by this GID from now on. */
void verbs_port_take_gid(struct verbs_port *p, const struct verbs_gid *g);

/* Open the device of a port; NULL and `e` on failure. */
struct ibv_context *verbs_port_open(const struct verbs_port *p, struct err *e);

/* What is known about a port: name, port, state, link_layer, gid, netdev, numa_node, limits,
 * driver. New reference. */
json_t *verbs_port_json(const struct verbs_port *p);

/* Why no message can be sent over verbs on this machine, and what to do about it; NULL: there is a device. */
const char *verbs_missing(void);

/* Every port of every device, as an array of verbs_port_json(). If there is no device, the array is
 * empty. New reference. */
json_t *verbs_devices(void);

static inline int verbs_mtu_bytes(enum ibv_mtu mtu)
{
	return 128 << mtu;
}

/* The largest MTU of at most `bytes` bytes. */
static inline enum ibv_mtu verbs_mtu(int bytes)
{
	enum ibv_mtu mtu = IBV_MTU_256;

	while (mtu < IBV_MTU_4096 && verbs_mtu_bytes(mtu) * 2 <= bytes)
		mtu++;
	return mtu;
}

#endif
