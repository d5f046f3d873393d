#include "measure/transports/verbs_device.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/or_abort.h"
#include "common/sysroot.h"
#include "common/text.h"
#include "measure/instrument/memory.h"
#include "measure/transports/verbs_settings.h"

#define PATH_SIZE  320
#define NAMES_SIZE 512
#define NO_DEVICE  "no RDMA device on this machine"

/* Every port of every device. */
struct ports {
	struct verbs_port *port;
	size_t count;
};

static bool is_ethernet(const struct verbs_port *p)
{
	return p->link_layer == IBV_LINK_LAYER_ETHERNET;
}

/* --- information from sysfs --- */

static void read_driver(const struct sysroot *r, struct verbs_port *p)
{
	char path[PATH_SIZE], target[PATH_SIZE];

	/* Soft-iWARP uses an interface, whose driver would be found instead
	 * (drivers/infiniband/sw/siw/siw_verbs.c). */
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/node_desc", p->device);
	if (sysroot_line(r, path, target, sizeof(target)) >= 0 && !strcmp(target, "Software iWARP stack")) {
		snprintf(p->driver, sizeof(p->driver), "siw");
		p->software = "Soft-iWARP";
		return;
	}
	/* Only rdma_rxe has this attribute (drivers/infiniband/sw/rxe/rxe_verbs.c); a virtual device has no
	 * device/driver. */
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/parent", p->device);
	if (sysroot_exists(r, path)) {
		snprintf(p->driver, sizeof(p->driver), "rdma_rxe");
		p->software = "Soft-RoCE";
		return;
	}
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/device/driver", p->device);
	if (sysroot_readlink(r, path, target, sizeof(target)) < 0)
		return;
	const char *slash = strrchr(target, '/');

	snprintf(p->driver, sizeof(p->driver), "%.31s", slash ? slash + 1 : target);
}

/* The NUMA node of the device, or for a software device, of the network interface below it. */
static void read_node(const struct sysroot *r, struct verbs_port *p)
{
	char path[PATH_SIZE];
	int64_t node = -1;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/device/numa_node", p->device);
	if (sysroot_int(r, path, &node) < 0 && p->netdev[0]) {
		snprintf(path, sizeof(path), "/sys/class/net/%s/device/numa_node", p->netdev);
		if (sysroot_int(r, path, &node) < 0)
			node = -1;
	}
	p->numa_node = (int)node;
}

static void read_sysfs(struct verbs_port *p)
{
	struct sysroot r;

	p->numa_node = -1;
	if (sysroot_open(&r, NULL, NULL))
		return;
	read_driver(&r, p);
	read_node(&r, p);
	sysroot_close(&r);
}

/* --- GIDs --- */

static void read_gid(struct ibv_context *context, struct verbs_port *p, int wanted)
{
	struct verbs_gid g;

	p->use_grh = is_ethernet(p) || wanted >= 0;
	verbs_gid_choose(context, p->number, is_ethernet(p), wanted, &g);
	verbs_port_take_gid(p, &g);
}

void verbs_port_take_gid(struct verbs_port *p, const struct verbs_gid *g)
{
	p->gid_index = g->index;
	p->gid = g->gid;
	p->gid_type = g->type;
	if (g->index >= 0)
		snprintf(p->netdev, sizeof(p->netdev), "%s", g->netdev);
}

/* --- the link's rate --- */

/* From the codes in struct ibv_port_attr (InfiniBand Architecture 1, PortInfo). What software
 * devices report is not their rate. */
static int64_t link_rate(const struct verbs_port *p, const struct ibv_port_attr *port)
{
	static const struct {
		uint8_t code;
		int64_t mbits_per_s; /* per lane */
	} speeds[] = {{1, 2500},   {2, 5000},	{4, 10000},  {8, 10000},
		      {16, 14063}, {32, 25781}, {64, 50000}, {128, 100000}};
	static const struct {
		uint8_t code;
		int64_t lanes;
	} widths[] = {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}};
	int64_t speed = 0, lanes = 0;

	for (size_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++)
		speed = speeds[i].code == port->active_speed ? speeds[i].mbits_per_s : speed;
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
		lanes = widths[i].code == port->active_width ? widths[i].lanes : lanes;
	return p->software ? 0 : speed * lanes * 1000000;
}

/* --- all ports --- */

static int read_port(struct ibv_context *context, const struct ibv_device_attr *device, int wanted_gid,
		     struct verbs_port *p)
{
	struct ibv_port_attr port;

	if (ibv_query_port(context, p->number, &port))
		return -EIO;
	p->state = port.state;
	p->link_layer = port.link_layer;
	p->active_mtu = port.active_mtu;
	p->max_mtu = port.max_mtu;
	p->max_message_bytes = port.max_msg_sz;
	p->lid = port.lid;
	p->sm_lid = port.sm_lid;
	p->max_qp_wr = device->max_qp_wr;
	p->max_cqe = device->max_cqe;
	p->max_sge = device->max_sge;
	p->max_mr = device->max_mr;
	p->max_srq = device->max_srq;
	p->max_srq_wr = device->max_srq_wr;
	p->max_srq_sge = device->max_srq_sge;
	p->max_mcast_qp_attach = device->max_mcast_qp_attach;
	p->max_qp_rd_atom = device->max_qp_rd_atom;
	p->max_qp_init_rd_atom = device->max_qp_init_rd_atom;
	p->has_atomics = device->atomic_cap != IBV_ATOMIC_NONE;
	snprintf(p->firmware, sizeof(p->firmware), "%.63s", device->fw_ver);
	read_gid(context, p, wanted_gid);
	read_sysfs(p);
	p->link_bits_per_s = link_rate(p, &port);
	return 0;
}

/* Add an entry with the name of its device. */
static struct verbs_port *add_port(struct ports *all, struct ibv_device *device)
{
	all->port = or_abort(reallocarray(all->port, all->count + 1, sizeof(*all->port)));
	struct verbs_port *p = &all->port[all->count++];

	memset(p, 0, sizeof(*p));
	snprintf(p->device, sizeof(p->device), "%s", ibv_get_device_name(device));
	p->transport = device->transport_type;
	return p;
}

static void add_unopened(struct ports *all, struct ibv_device *device, int rc)
{
	struct verbs_port *p = add_port(all, device);

	p->open_error = rc ? rc : -EIO;
}

static void add_device(struct ports *all, struct ibv_device *device, int wanted_gid)
{
	struct ibv_device_attr attr;
	struct ibv_context *context = ibv_open_device(device);

	if (!context) {
		add_unopened(all, device, -errno);
		return;
	}
	if (ibv_query_device(context, &attr)) {
		add_unopened(all, device, -EIO);
		goto out;
	}
	for (unsigned n = 1; n <= attr.phys_port_cnt; n++) {
		struct verbs_port *p = add_port(all, device);

		p->number = (uint8_t)n;
		p->open_error = read_port(context, &attr, wanted_gid, p);
	}
out:
	ibv_close_device(context);
}

/* Without InfiniBand support in the kernel, there are no devices. */
static void read_ports(struct ports *all, int wanted_gid)
{
	int count = 0;
	struct ibv_device **list = ibv_get_device_list(&count);

	memset(all, 0, sizeof(*all));
	for (int i = 0; list && i < count; i++)
		add_device(all, list[i], wanted_gid);
	if (list)
		ibv_free_device_list(list);
}

/* --- the choice --- */

static bool is_auto(const char *text)
{
	return !strcmp(text, "auto");
}

/* "rxe0, mlx5_0": the devices, or the ports of one device. */
static void name_devices(const struct ports *all, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < all->count && used < size; i++)
		if (!i || strcmp(all->port[i].device, all->port[i - 1].device))
			used +=
			    (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "", all->port[i].device);
}

static void name_states(const struct ports *all, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < all->count && used < size; i++)
		used +=
		    (size_t)snprintf(buf + used, size - used, "%s%s port %u is %s", used ? ", " : "",
				     all->port[i].device, all->port[i].number, ibv_port_state_str(all->port[i].state));
}

/* Keep the ports for which `is_wanted` returns true. */
static void keep(struct ports *all, bool (*is_wanted)(const struct verbs_port *, const void *), const void *what)
{
	size_t kept = 0;

	for (size_t i = 0; i < all->count; i++)
		if (is_wanted(&all->port[i], what))
			all->port[kept++] = all->port[i];
	all->count = kept;
}

static bool is_device(const struct verbs_port *p, const void *name)
{
	return !strcmp(p->device, name);
}

static bool is_number(const struct verbs_port *p, const void *number)
{
	return p->number == *(const int *)number;
}

static bool is_open(const struct verbs_port *p, const void *unused)
{
	(void)unused;
	return !p->open_error;
}

/* Including RoCE. */
static bool is_infiniband(const struct verbs_port *p, const void *unused)
{
	(void)unused;
	return p->transport == IBV_TRANSPORT_IB;
}

static bool is_verbs(const struct verbs_port *p, const void *unused)
{
	return is_infiniband(p, unused) || p->transport == IBV_TRANSPORT_IWARP;
}

static bool is_active(const struct verbs_port *p, const void *unused)
{
	(void)unused;
	return p->state == IBV_PORT_ACTIVE;
}

static int keep_device(struct ports *all, const char *name, struct err *e)
{
	char there[NAMES_SIZE], quoted[TEXT_QUOTE_MAX];

	if (!all->count)
		return err_set(e, -ENODEV, STATUS_IMPOSSIBLE, "verbs", NULL, NO_DEVICE);
	if (is_auto(name))
		return 0;
	name_devices(all, there, sizeof(there));
	keep(all, is_device, name);
	if (all->count)
		return 0;
	return err_set(e, -ENODEV, STATUS_USAGE, "verbs", NULL, "there is no device %s; there are: %s",
		       text_quote(name, quoted, sizeof(quoted)), there);
}

static int keep_number(struct ports *all, int number, struct err *e)
{
	char there[NAMES_SIZE];

	if (number < 0)
		return 0;
	name_states(all, there, sizeof(there));
	keep(all, is_number, &number);
	if (all->count)
		return 0;
	return err_set(e, -ENODEV, STATUS_USAGE, "verbs", NULL, "there is no port %d; %s", number, there);
}

static int keep_open(struct ports *all, struct err *e)
{
	struct verbs_port first = all->port[0];

	keep(all, is_open, NULL);
	return all->count ? 0 : err_sys(e, first.open_error, first.device, "open the RDMA device");
}

static bool any(const struct ports *all, bool (*is_wanted)(const struct verbs_port *, const void *))
{
	for (size_t i = 0; i < all->count; i++)
		if (is_wanted(&all->port[i], NULL))
			return true;
	return false;
}

/* iWARP, which has fewer features, is only used if it is asked for by name, or if there is nothing else. */
static int keep_verbs(struct ports *all, const char *device, struct err *e)
{
	struct verbs_port first = all->port[0];

	keep(all, is_auto(device) && any(all, is_infiniband) ? is_infiniband : is_verbs, NULL);
	return all->count ? 0
			  : err_set(e, -EOPNOTSUPP, STATUS_IMPOSSIBLE, first.device, NULL,
				    "the device supports neither InfiniBand, RoCE nor iWARP");
}

static int keep_active(struct ports *all, struct err *e)
{
	char there[NAMES_SIZE];

	name_states(all, there, sizeof(there));
	keep(all, is_active, NULL);
	return all->count ? 0
			  : err_set(e, -ENETDOWN, STATUS_IMPOSSIBLE, "verbs", NULL,
				    "no active port: %s; `rdma link` and `ip link` show more", there);
}

static const struct verbs_port *prefer_node(const struct ports *all, int node)
{
	for (size_t i = 0; i < all->count; i++)
		if (node >= 0 && all->port[i].numa_node == node)
			return &all->port[i];
	return &all->port[0];
}

static int check_gid(const struct verbs_port *p, int wanted, struct err *e)
{
	char object[IBV_SYSFS_NAME_MAX + 32];

	/* iWARP is only addressed by IP. */
	if (p->gid_index >= 0 || !p->use_grh || p->transport == IBV_TRANSPORT_IWARP)
		return 0;
	snprintf(object, sizeof(object), "%s port %u", p->device, p->number);
	if (wanted >= 0)
		return err_set(e, -ENOENT, STATUS_USAGE, object, NULL, "there is no GID with gid_index %d", wanted);
	return err_set(e, -EADDRNOTAVAIL, STATUS_IMPOSSIBLE, object, NULL,
		       "the port has no GID; its network interface needs an IP address");
}

static int narrow(struct ports *all, const struct verbs_settings *s, enum role role, struct err *e)
{
	int rc = keep_device(all, verbs_device_of(s, role), e);

	if (!rc)
		rc = keep_open(all, e);
	if (!rc)
		rc = keep_number(all, verbs_number(s->port, 1, 255), e);
	if (!rc)
		rc = keep_verbs(all, verbs_device_of(s, role), e);
	return rc ? rc : keep_active(all, e);
}

/* --- two ports with a cable between them --- */

/* The bytes of an IPv4 or IPv6 address; NULL: neither, or one that every interface has. */
static const uint8_t *address_bytes(const struct sockaddr *a, size_t *count)
{
	const struct in6_addr *v6 = a ? &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr : NULL;

	if (a && a->sa_family == AF_INET) {
		*count = 4;
		return (const uint8_t *)&((const struct sockaddr_in *)(const void *)a)->sin_addr;
	}
	*count = 16;
	return a && a->sa_family == AF_INET6 && !IN6_IS_ADDR_LINKLOCAL(v6) ? v6->s6_addr : NULL;
}

/* Are two addresses different ones of one network? */
static bool is_one_network(const struct ifaddrs *a, const struct ifaddrs *b)
{
	size_t n, m, k;
	const uint8_t *x = address_bytes(a->ifa_addr, &n), *y = address_bytes(b->ifa_addr, &m);
	const uint8_t *mask = a->ifa_netmask ? address_bytes(a->ifa_netmask, &k) : NULL;

	if (!x || !y || !mask || n != m || !memcmp(x, y, n))
		return false;
	for (size_t i = 0; i < n; i++)
		if ((x[i] ^ y[i]) & mask[i])
			return false;
	return true;
}

static bool share_network(const char *netdev, const char *other)
{
	struct ifaddrs *all;
	bool found = false;

	if (!*netdev || !*other || !strcmp(netdev, other) || getifaddrs(&all))
		return false;
	for (const struct ifaddrs *a = all; a && !found; a = a->ifa_next)
		for (const struct ifaddrs *b = all; b && !found; b = b->ifa_next)
			found = !strcmp(a->ifa_name, netdev) && !strcmp(b->ifa_name, other) && is_one_network(a, b);
	freeifaddrs(all);
	return found;
}

/* A virtual function reaches others of its card through the card. */
static bool is_virtual(const struct verbs_port *p)
{
	char path[PATH_SIZE];
	struct sysroot r;
	bool found;

	if (sysroot_open(&r, NULL, NULL))
		return false;
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/device/physfn", p->device);
	found = sysroot_exists(&r, path);
	sysroot_close(&r);
	return found;
}

/*
 * Is there a cable between them? Of InfiniBand ports on one host that have nothing else, one has the subnet manager of
 * both; others may be of two networks with the same prefix. Of Ethernet ports, the addresses say so.
 */
static bool are_cabled(const struct verbs_port *a, const struct verbs_port *b)
{
	if (a->software || b->software || a->link_layer != b->link_layer || is_virtual(a) || is_virtual(b))
		return false;
	if (is_ethernet(a))
		return share_network(a->netdev, b->netdev);
	return a->lid != b->lid && a->sm_lid == b->sm_lid && (a->sm_lid == a->lid || a->sm_lid == b->lid);
}

/* Both sides come to the same two ports: those on most of their nodes, the first of all. NULL: there are none. */
static const struct verbs_port *choose_cabled(const struct ports *all, const int node[2], enum role role)
{
	const struct verbs_port *found = NULL;
	int most = -1;

	for (size_t i = 0; i < all->count; i++)
		for (size_t k = 0; k < all->count; k++) {
			const struct verbs_port *a = &all->port[i], *b = &all->port[k];
			const int near =
			    (node[0] >= 0 && a->numa_node == node[0]) + (node[1] >= 0 && b->numa_node == node[1]);

			if (i == k || near <= most || !are_cabled(a, b))
				continue;
			most = near;
			found = role == ROLE_SINK ? b : a;
		}
	return found;
}

/* The connection manager's route between two addresses of this host does not leave it. */
static bool may_be_cabled(const struct verbs_settings *s, const struct transport_config *c)
{
	return c->peer_is_here && s->connect == VERBS_PLAIN && !verbs_has_group(s) && is_auto(s->port) &&
	       is_auto(verbs_device_of(s, ROLE_SOURCE)) && is_auto(verbs_device_of(s, ROLE_SINK));
}

int verbs_port_choose(const struct verbs_settings *s, const struct transport_config *config, struct verbs_port *out,
		      struct err *e)
{
	const int own = config->numa_node < 0 ? memory_node_of_cpu(sched_getcpu()) : config->numa_node;
	const bool is_sink = config->role == ROLE_SINK;
	const int node[2] = {is_sink ? config->peer_node : config->numa_node,
			     is_sink ? config->numa_node : config->peer_node};
	int wanted = verbs_number(verbs_gid_index_of(s, config->role), 0, 255);
	const struct verbs_port *p;
	struct ports all;
	int rc;

	read_ports(&all, wanted);
	rc = narrow(&all, s, config->role, e);
	if (!rc) {
		p = may_be_cabled(s, config) ? choose_cabled(&all, node, config->role) : NULL;
		p = p ? p : prefer_node(&all, own);
		rc = check_gid(p, wanted, e);
		if (!rc)
			*out = *p;
	}
	free(all.port);
	return rc;
}

struct ibv_context *verbs_port_open(const struct verbs_port *p, struct err *e)
{
	int count = 0;
	struct ibv_device **list = ibv_get_device_list(&count);
	struct ibv_context *context = NULL;

	errno = ENODEV;
	for (int i = 0; list && i < count && !context; i++)
		if (!strcmp(ibv_get_device_name(list[i]), p->device))
			context = ibv_open_device(list[i]);
	if (!context)
		err_sys(e, -errno, p->device, "open the RDMA device");
	if (list)
		ibv_free_device_list(list);
	return context;
}

/* --- as JSON --- */

static const char *link_layer_name(const struct verbs_port *p)
{
	return is_ethernet(p) ? "Ethernet" : p->link_layer == IBV_LINK_LAYER_INFINIBAND ? "InfiniBand" : "unspecified";
}

static const char *gid_type_name(const struct verbs_port *p)
{
	return verbs_gid_type(&(struct verbs_gid){.index = p->gid_index, .type = p->gid_type});
}

/* JSON null for "". */
static const char *or_null(const char *text)
{
	return *text ? text : NULL;
}

json_t *verbs_port_json(const struct verbs_port *p)
{
	char gid[INET6_ADDRSTRLEN] = "";

	if (p->open_error)
		return json_pack("{s:s, s:i, s:s}", "name", p->device, "port", (int)p->number, "error",
				 strerror(-p->open_error));
	if (p->gid_index >= 0)
		inet_ntop(AF_INET6, p->gid.raw, gid, sizeof(gid));
	return json_pack("{s:s, s:i, s:s, s:s, s:i, s:i, s:I, s:i, s:i, s:s?, s:s?, s:s?, s:i, s:i, s:i, s:i, s:i, "
			 "s:i, s:i, s:i, s:i, s:i, s:b, s:s?, s:s?}",
			 "name", p->device, "port", (int)p->number, "state", ibv_port_state_str(p->state), "link_layer",
			 link_layer_name(p), "active_mtu_bytes", verbs_mtu_bytes(p->active_mtu), "max_mtu_bytes",
			 verbs_mtu_bytes(p->max_mtu), "max_message_bytes", (json_int_t)p->max_message_bytes, "lid",
			 (int)p->lid, "gid_index", p->gid_index, "gid", or_null(gid), "gid_type", gid_type_name(p),
			 "netdev", or_null(p->netdev), "numa_node", p->numa_node, "max_qp_wr", p->max_qp_wr, "max_cqe",
			 p->max_cqe, "max_sge", p->max_sge, "max_mr", p->max_mr, "max_srq", p->max_srq, "max_srq_wr",
			 p->max_srq_wr, "max_srq_sge", p->max_srq_sge, "max_qp_rd_atom", p->max_qp_rd_atom,
			 "max_qp_init_rd_atom", p->max_qp_init_rd_atom, "atomics", (int)p->has_atomics, "firmware",
			 or_null(p->firmware), "driver", or_null(p->driver));
}

const char *verbs_missing(void)
{
	struct ports all;

	read_ports(&all, -1);
	free(all.port);
	return all.count ? NULL
			 : NO_DEVICE "; `kblat-guest -- COMMAND` runs a command in a guest that has a Soft-RoCE device";
}

json_t *verbs_devices(void)
{
	json_t *list = json_array();
	struct ports all;

	read_ports(&all, -1);
	for (size_t i = 0; i < all.count; i++)
		json_array_append_new(list, verbs_port_json(&all.port[i]));
	free(all.port);
	return list;
}
