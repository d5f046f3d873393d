/*
 * Set-up by the RDMA connection manager (rdma_cm(7)). The sink listens on an address of its port,
 * on a free port number, and publishes both with a random token. The source resolves the address,
 * connects, and presents the token in its private data, so that connections from anyone else are
 * rejected. The route that a sink needs to answer datagrams is in the source's address.
 *
 * The connection manager gives all queue pairs for datagrams the same, well-known key, with which
 * any host could send to them. They get a random one instead, which both sides publish.
 *
 * The connection manager does not own the queue pair: it only provides the attributes of each state
 * (rdma_init_qp_attr). They are applied here, with retries and path MTU from the settings, and
 * rdma_establish() completes the handshake of a reliable connection.
 */

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/err.h"
#include "common/monotonic.h"
#include "common/text.h"
#include "measure/transports/verbs_device.h"
#include "measure/transports/verbs_limits.h"
#include "measure/transports/verbs_peer.h"
#include "measure/transports/verbs_resources.h"
#include "measure/transports/verbs_types.h"

#define BACKLOG	     8
#define TOKEN_DIGITS 16
/* Older kernels return attributes above these, which ibv_modify_qp() rejects. */
#define KNOWN_MASK (((int)IBV_QP_DEST_QPN << 1) - 1)

/* The source's private data, in network byte order. */
struct cm_introduction {
	uint64_t token;
};

/* --- an address of the chosen port --- */

static bool is_candidate(const struct ifaddrs *a)
{
	if (!a->ifa_addr || !(a->ifa_flags & IFF_UP) || (a->ifa_flags & IFF_LOOPBACK))
		return false;
	if (a->ifa_addr->sa_family == AF_INET)
		return true;
	/* A link-local address is meaningless on another host. */
	return a->ifa_addr->sa_family == AF_INET6 &&
	       !IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)(const void *)a->ifa_addr)->sin6_addr);
}

static socklen_t address_size(const struct sockaddr *a)
{
	return a->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

/* On Ethernet a GID is the address itself; IPv4 addresses are mapped to IPv6. */
static bool is_gid(const struct sockaddr *a, const union ibv_gid *gid)
{
	if (a->sa_family == AF_INET6)
		return !memcmp(gid->raw, &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr, sizeof(gid->raw));
	return IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)(const void *)gid->raw) &&
	       !memcmp(gid->raw + 12, &((const struct sockaddr_in *)(const void *)a)->sin_addr, 4);
}

static bool is_ours(const struct verbs *t, const struct rdma_cm_id *id)
{
	return id->verbs && !strcmp(ibv_get_device_name(id->verbs->device), t->port.device) &&
	       id->port_num == t->port.number;
}

/* An id bound to the address if that belongs to the chosen port; otherwise NULL. */
static struct rdma_cm_id *cm_bind_to(struct verbs *t, const struct sockaddr *address)
{
	struct rdma_cm_id *id;
	struct sockaddr_storage local = {0};

	memcpy(&local, address, address_size(address));
	if (rdma_create_id(t->cm.channel, &id, NULL, t->kind->port_space))
		return NULL;
	if (!rdma_bind_addr(id, (struct sockaddr *)&local) && is_ours(t, id)) {
		t->cm.local = local;
		return id;
	}
	rdma_destroy_id(id);
	return NULL;
}

/* The first address of the port that works; `exact`: only the one that is its GID. */
static struct rdma_cm_id *bind_any(struct verbs *t, const struct ifaddrs *list, bool exact)
{
	struct rdma_cm_id *id = NULL;

	for (const struct ifaddrs *a = list; a && !id; a = a->ifa_next)
		if (is_candidate(a) && (!exact || is_gid(a->ifa_addr, &t->port.gid)))
			id = cm_bind_to(t, a->ifa_addr);
	return id;
}

static int bind_port(struct verbs *t, struct err *e)
{
	const bool is_given = strcmp(verbs_gid_index_of(&t->settings, t->config.role), "auto") != 0;
	const bool is_group = verbs_has_group(&t->settings);
	struct ifaddrs *list;

	if (getifaddrs(&list))
		return err_sys(e, -errno, t->object, "list the network addresses");
	t->cm.id = bind_any(t, list, true);
	if (!t->cm.id && !is_given)
		t->cm.id = bind_any(t, list, false);
	freeifaddrs(list);
	if (t->cm.id)
		return 0;
	return err_set(e, -EADDRNOTAVAIL, STATUS_IMPOSSIBLE, t->object, NULL,
		       "%s needs an IP address of this port%s, and there is none; give %s one%s",
		       is_group ? "group" : "connect rdmacm", is_given ? " that is the GID of gid_index" : "",
		       t->port.netdev[0] ? t->port.netdev : "its network interface",
		       is_group ? "" : ", or use connect plain");
}

static int open_channel(struct verbs *t, struct err *e)
{
	int rc;

	t->cm.channel = rdma_create_event_channel();
	if (!t->cm.channel)
		return err_set(e, -errno, STATUS_IMPOSSIBLE, t->object, "use the RDMA connection manager",
			       "%s; is the kernel module rdma_ucm loaded?", strerror(errno));
	/* Non-blocking, because a read would block if librdmacm drops the event. */
	rc = fcntl(t->cm.channel->fd, F_SETFL, O_NONBLOCK) ? err_sys(e, -errno, t->object, "set up the event channel")
							   : bind_port(t, e);
	if (rc)
		rdma_destroy_event_channel(t->cm.channel);
	return rc;
}

static int cm_open(struct verbs *t, struct err *e)
{
	const int rc = open_channel(t, e);

	if (!rc)
		t->context = t->cm.id->verbs;
	return rc;
}

static void cm_close(struct verbs *t)
{
	if (t->cm.id)
		rdma_destroy_id(t->cm.id);
	if (t->cm.listener)
		rdma_destroy_id(t->cm.listener);
	rdma_destroy_event_channel(t->cm.channel);
}

/* --- information for the source --- */

static int publish_listener(struct verbs *t, json_t *address, struct err *e)
{
	char ip[INET6_ADDRSTRLEN], token[TOKEN_DIGITS + 1];
	const struct sockaddr *a = (const struct sockaddr *)&t->cm.local;
	const void *number = a->sa_family == AF_INET ? (const void *)&((const struct sockaddr_in *)a)->sin_addr
						     : (const void *)&((const struct sockaddr_in6 *)a)->sin6_addr;

	if (!inet_ntop(a->sa_family, number, ip, sizeof(ip)))
		return err_sys(e, -errno, t->object, "format its address");
	snprintf(token, sizeof(token), "%0*" PRIx64, TOKEN_DIGITS, t->cm.token);
	json_object_set_new(address, "ip", json_string(ip));
	json_object_set_new(address, "ip_port", json_integer(ntohs(rdma_get_src_port(t->cm.listener))));
	json_object_set_new(address, "token", json_string(token));
	return 0;
}

static int cm_publish(struct verbs *t, json_t *address, struct err *e)
{
	json_object_set_new(address, "qkey", json_integer(t->qkey));
	if (t->config.role == ROLE_SOURCE) {
		verbs_publish_route(t, address);
		return 0;
	}
	if (getrandom(&t->cm.token, sizeof(t->cm.token), 0) < 0)
		return err_sys(e, -errno, t->object, "draw random numbers");
	if (rdma_listen(t->cm.id, BACKLOG))
		return err_sys(e, -errno, t->object, "listen for an RDMA connection");
	/* The connection gets an id of its own. */
	t->cm.listener = t->cm.id;
	t->cm.id = NULL;
	return publish_listener(t, address, e);
}

static int read_token(const json_t *peer, uint64_t *token, struct err *e)
{
	const char *text = verbs_peer_text(peer, "token", e);

	if (!text)
		return -EPROTO;
	if (strlen(text) != TOKEN_DIGITS || strspn(text, "0123456789abcdef") != TOKEN_DIGITS)
		return err_set(e, -EPROTO, STATUS_FAILED, "peer's address", NULL,
			       "\"token\" is not %d hexadecimal digits", TOKEN_DIGITS);
	*token = strtoull(text, NULL, 16);
	return 0;
}

static int read_address(const json_t *peer, struct sockaddr_storage *out, struct err *e)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)out;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;
	const char *ip = verbs_peer_text(peer, "ip", e);
	int64_t port = 0;

	if (!ip || verbs_peer_number(peer, "ip_port", 1, UINT16_MAX, &port, e))
		return -EPROTO;
	memset(out, 0, sizeof(*out));
	if (inet_pton(AF_INET, ip, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)port);
	} else if (inet_pton(AF_INET6, ip, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons((uint16_t)port);
	} else {
		return err_set(e, -EPROTO, STATUS_FAILED, "peer's address", NULL, "\"ip\" is not an IP address");
	}
	return 0;
}

/* --- events --- */

/* The next event, at most until `deadline`. The caller acknowledges it. */
static int next_event(struct verbs *t, int64_t deadline, struct rdma_cm_event **event)
{
	struct pollfd fd = {.fd = t->cm.channel->fd, .events = POLLIN};

	for (;;) {
		int64_t left = deadline - monotonic_ns();

		if (left <= 0)
			return -ETIMEDOUT;
		if (poll(&fd, 1, (int)(left / 1000000) + 1) < 0 && errno != EINTR)
			return -errno;
		if (!rdma_get_cm_event(t->cm.channel, event))
			return 0;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
}

/* Private data is padded with zeros. False if there is none. */
static bool read_introduction(const struct verbs *t, const struct rdma_cm_event *event, struct cm_introduction *to)
{
	const void *data = event->param.conn.private_data;
	size_t size = event->param.conn.private_data_len;

	if (t->kind->type == IBV_QPT_UD) {
		data = event->param.ud.private_data;
		size = event->param.ud.private_data_len;
	}
	if (!data || size < sizeof(*to))
		return false;
	memcpy(to, data, sizeof(*to));
	return true;
}

static bool shows_token(const struct verbs *t, const struct rdma_cm_event *event)
{
	struct cm_introduction introduction;

	return read_introduction(t, event, &introduction) && be64toh(introduction.token) == t->cm.token;
}

static void refuse(struct rdma_cm_event *event)
{
	struct rdma_cm_id *id = event->id;

	rdma_reject(id, NULL, 0);
	rdma_ack_cm_event(event);
	rdma_destroy_id(id);
}

/* The meaning of a status: if positive, a reason from the other side (the kernel's
 * include/rdma/ib_cm.h: enum ib_cm_rej_reason for connections, enum ib_cm_sidr_status for
 * datagrams); if negative, an errno. */
static const char *event_reason(const struct rdma_cm_event *event)
{
	static const struct {
		enum rdma_cm_event_type event;
		int status;
		const char *text;
	} reasons[] = {
	    {RDMA_CM_EVENT_REJECTED, 8, "nothing listens at that port"},
	    {RDMA_CM_EVENT_REJECTED, 10, "stale connection"},
	    {RDMA_CM_EVENT_REJECTED, 28, "the other side refused it"},
	    {RDMA_CM_EVENT_UNREACHABLE, 1, "nothing listens at that port"},
	    {RDMA_CM_EVENT_UNREACHABLE, 2, "the other side refused it"},
	};

	if (event->status < 0)
		return strerror(-event->status);
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].event == event->event && reasons[i].status == event->status)
			return reasons[i].text;
	return "no further information";
}

static int event_error(struct verbs *t, const struct rdma_cm_event *event, const char *operation, struct err *e)
{
	return err_set(e, -ECONNREFUSED, STATUS_FAILED, t->object, operation, "%s (status %d): %s",
		       rdma_event_str(event->event), event->status, event_reason(event));
}

/* Can the event be ignored: a connection from somebody else, or an event without consequences? */
static bool pass_over(struct verbs *t, enum rdma_cm_event_type wanted, struct rdma_cm_event *event)
{
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST &&
	    (wanted != RDMA_CM_EVENT_CONNECT_REQUEST || !shows_token(t, event))) {
		refuse(event);
		return true;
	}
	if (event->event == RDMA_CM_EVENT_ADDR_CHANGE || event->event == RDMA_CM_EVENT_TIMEWAIT_EXIT) {
		rdma_ack_cm_event(event);
		return true;
	}
	return false;
}

/* Wait for one kind of event; on success the caller acknowledges it. */
static int wait_for(struct verbs *t, enum rdma_cm_event_type wanted, const char *operation, int64_t deadline,
		    struct rdma_cm_event **event, struct err *e)
{
	int rc;

	do {
		rc = next_event(t, deadline, event);
		if (rc == -ETIMEDOUT)
			return err_set(e, rc, STATUS_FAILED, t->object, operation, "no %s for %lld s",
				       rdma_event_str(wanted), VERBS_PATIENCE_NS / 1000000000);
		if (rc)
			return err_sys(e, rc, t->object, operation);
	} while (pass_over(t, wanted, *event));
	if ((*event)->event == wanted && !(*event)->status)
		return 0;
	rc = event_error(t, *event, operation, e);
	rdma_ack_cm_event(*event);
	return rc;
}

static int wait_and_forget(struct verbs *t, enum rdma_cm_event_type wanted, const char *operation, int64_t deadline,
			   struct err *e)
{
	struct rdma_cm_event *event;
	int rc = wait_for(t, wanted, operation, deadline, &event, e);

	if (!rc)
		rdma_ack_cm_event(event);
	return rc;
}

/* --- a multicast group --- */

/*
 * Both sides are members, as the connection manager tells only members where to send to, and with which key. The queue
 * pairs are not its own, so they are attached here.
 */
static int group_join(struct verbs *t, struct err *e)
{
	const int64_t deadline = monotonic_ns() + VERBS_PATIENCE_NS;
	struct sockaddr_in to = {.sin_family = AF_INET};
	struct rdma_cm_event *event;
	char operation[64];
	int rc = open_channel(t, e);

	if (rc)
		return rc;
	snprintf(operation, sizeof(operation), "join group %.40s", t->settings.group);
	inet_pton(AF_INET, t->settings.group, &to.sin_addr);
	rc = rdma_join_multicast(t->cm.id, (struct sockaddr *)&to, NULL)
		 ? err_sys(e, -errno, t->object, operation)
		 : wait_for(t, RDMA_CM_EVENT_MULTICAST_JOIN, operation, deadline, &event, e);
	if (rc) {
		e->status = STATUS_IMPOSSIBLE; /* of another group it may be possible */
		cm_close(t);
		return rc;
	}
	t->group.route = event->param.ud.ah_attr;
	t->group.qp_num = event->param.ud.qp_num;
	t->group.qkey = t->qkey = event->param.ud.qkey;
	rdma_ack_cm_event(event);
	return 0;
}

static int group_open(struct verbs *t, struct err *e)
{
	int rc = verbs_setup_plain.open(t, e);

	if (rc)
		return rc;
	rc = group_join(t, e);
	if (rc)
		verbs_setup_plain.close(t);
	return rc;
}

static int group_publish(struct verbs *t, json_t *address, struct err *e)
{
	return verbs_setup_plain.publish(t, address, e);
}

static int group_attach(struct verbs *t, struct err *e)
{
	for (; t->group.attached < t->pair_count; t->group.attached++) {
		const int rc =
		    ibv_attach_mcast(t->pairs[t->group.attached], &t->group.route.grh.dgid, t->group.route.dlid);

		if (rc)
			return err_sys(e, -abs(rc), t->object, "attach a queue pair to the multicast group");
	}
	return 0;
}

/* Messages go to the group, answers to the source. */
static int group_connect(struct verbs *t, const json_t *peer, int64_t deadline, struct err *e)
{
	const int rc = verbs_setup_plain.connect(t, peer, deadline, e);

	if (rc || t->config.role == ROLE_SINK)
		return rc ? rc : group_attach(t, e);
	ibv_destroy_ah(t->ah);
	return verbs_aim(t, &t->group.route, t->group.qp_num, t->group.qkey, e);
}

static void group_close(struct verbs *t)
{
	cm_close(t);
	verbs_setup_plain.close(t);
}

const struct verbs_setup verbs_setup_group = {group_open, group_publish, group_connect, group_close};

/* --- queue pair states --- */

/* The connection manager's attributes of a state. */
static int attributes_of(struct verbs *t, enum ibv_qp_state state, struct ibv_qp_attr *a, int *mask, struct err *e)
{
	memset(a, 0, sizeof(*a));
	a->qp_state = state;
	if (rdma_init_qp_attr(t->cm.id, a, mask))
		return err_sys(e, -errno, t->object, "get the queue pair's attributes from the connection manager");
	*mask &= KNOWN_MASK;
	return 0;
}

/* The path may have a smaller MTU than the ports. */
static int fit_mtu(struct verbs *t, struct ibv_qp_attr *a, struct err *e)
{
	int path = verbs_mtu_bytes(a->path_mtu);

	if (path < t->mtu_bytes && t->settings.mtu)
		return err_set(e, -ERANGE, STATUS_IMPOSSIBLE, t->object, NULL, "mtu %d is above the path's MTU of %d",
			       t->mtu_bytes, path);
	if (path < t->mtu_bytes)
		t->mtu_bytes = path;
	a->path_mtu = verbs_mtu(t->mtu_bytes);
	return 0;
}

static int to_state(struct verbs *t, enum ibv_qp_state state, struct err *e)
{
	struct ibv_qp_attr a;
	int mask, rc = attributes_of(t, state, &a, &mask, e);

	if (!rc && (mask & IBV_QP_PATH_MTU))
		rc = fit_mtu(t, &a, e);
	if (rc)
		return rc;
	/* The connection manager assumes that nobody writes to the side that connects. */
	if (mask & IBV_QP_ACCESS_FLAGS)
		a.qp_access_flags = verbs_access(t);
	if (mask & IBV_QP_AV)
		a.ah_attr.sl = (uint8_t)t->settings.sl;
	if (mask & IBV_QP_QKEY)
		a.qkey = t->qkey;
	verbs_fill_retry(t, &a);
	return verbs_modify_qp(t, &a, mask, e);
}

/* Datagrams need no peer: once the keys are known, the queue pair can go through all states. */
static int bring_datagram_up(struct verbs *t, struct err *e)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR};
	int rc = to_state(t, IBV_QPS_INIT, e);

	if (!rc)
		rc = verbs_modify_qp(t, &a, t->kind->rtr_mask, e);
	a.qp_state = IBV_QPS_RTS;
	a.sq_psn = t->psn;
	return rc ? rc : verbs_modify_qp(t, &a, t->kind->rts_mask, e);
}

static int bring_connection_up(struct verbs *t, struct err *e)
{
	int rc = to_state(t, IBV_QPS_RTR, e);

	return rc ? rc : to_state(t, IBV_QPS_RTS, e);
}

static struct rdma_conn_param parameters(const struct verbs *t)
{
	return (struct rdma_conn_param){
	    .qp_num = t->qp->qp_num,
	    .responder_resources = t->rd_atomic,
	    .initiator_depth = t->rd_atomic,
	    .retry_count = t->retry.retry_cnt,
	    .rnr_retry_count = t->retry.rnr_retry,
	};
}

/* --- the source --- */

static int resolve(struct verbs *t, struct sockaddr_storage *to, int64_t deadline, struct err *e)
{
	const int timeout_ms = (int)(VERBS_PATIENCE_NS / 1000000);
	int rc;

	if (rdma_resolve_addr(t->cm.id, NULL, (struct sockaddr *)to, timeout_ms))
		return err_sys(e, -errno, t->object, "resolve the sink's address");
	rc = wait_and_forget(t, RDMA_CM_EVENT_ADDR_RESOLVED, "resolve the sink's address", deadline, e);
	if (rc)
		return rc;
	if (!is_ours(t, t->cm.id))
		return err_set(
		    e, -EHOSTUNREACH, STATUS_FAILED, t->object, NULL,
		    "the route to the sink uses %s port %u; choose that port, or an address in this port's network",
		    ibv_get_device_name(t->cm.id->verbs->device), t->cm.id->port_num);
	if (rdma_resolve_route(t->cm.id, timeout_ms))
		return err_sys(e, -errno, t->object, "resolve the route to the sink");
	return wait_and_forget(t, RDMA_CM_EVENT_ROUTE_RESOLVED, "resolve the route to the sink", deadline, e);
}

static int request(struct verbs *t, uint64_t token, struct err *e)
{
	struct cm_introduction introduction = {.token = htobe64(token)};
	struct rdma_conn_param p = parameters(t);

	p.private_data = &introduction;
	p.private_data_len = sizeof(introduction);
	return rdma_connect(t->cm.id, &p) ? err_sys(e, -errno, t->object, "connect to the sink") : 0;
}

/* With iWARP, the connection manager has already changed the queue pair's states when it reports
 * that the connection is established. */
static int finish_connection(struct verbs *t, int64_t deadline, struct err *e)
{
	const bool is_iwarp = verbs_iwarp_is(t);
	int rc = wait_and_forget(t, is_iwarp ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_CONNECT_RESPONSE,
				 "connect to the sink", deadline, e);

	if (rc || is_iwarp)
		return rc;
	rc = bring_connection_up(t, e);
	if (!rc && rdma_establish(t->cm.id))
		rc = err_sys(e, -errno, t->object, "establish the connection");
	return rc;
}

static int finish_datagram(struct verbs *t, uint32_t qkey, int64_t deadline, struct err *e)
{
	struct rdma_cm_event *event;
	int rc = wait_for(t, RDMA_CM_EVENT_ESTABLISHED, "find the sink's queue pair", deadline, &event, e);

	if (rc)
		return rc;
	event->param.ud.ah_attr.sl = (uint8_t)t->settings.sl;
	rc = verbs_aim(t, &event->param.ud.ah_attr, event->param.ud.qp_num, qkey, e);
	rdma_ack_cm_event(event);
	return rc;
}

static int cm_connect_source(struct verbs *t, const json_t *peer, int64_t deadline, struct err *e)
{
	bool is_datagram = t->kind->type == IBV_QPT_UD;
	struct sockaddr_storage to;
	uint64_t token = 0;
	int64_t qkey = 0;
	int rc = read_address(peer, &to, e);

	if (!rc)
		rc = read_token(peer, &token, e);
	if (!rc && is_datagram)
		rc = verbs_peer_qkey(peer, &qkey, e);
	if (!rc)
		rc = resolve(t, &to, deadline, e);
	if (!rc)
		rc = is_datagram ? bring_datagram_up(t, e) : to_state(t, IBV_QPS_INIT, e);
	if (!rc)
		rc = request(t, token, e);
	if (rc)
		return rc;
	return is_datagram ? finish_datagram(t, (uint32_t)qkey, deadline, e) : finish_connection(t, deadline, e);
}

/* --- the sink --- */

static int accept_request(struct verbs *t, struct err *e)
{
	struct rdma_conn_param p = parameters(t);

	return rdma_accept(t->cm.id, &p) ? err_sys(e, -errno, t->object, "accept the source's connection") : 0;
}

/* To answer datagrams, the sink must know where to send them. */
static int aim_back(struct verbs *t, const json_t *peer, struct err *e)
{
	struct ibv_ah_attr route;
	int64_t qkey = 0;
	int rc = verbs_peer_qkey(peer, &qkey, e);

	if (!rc)
		rc = verbs_read_route(t, peer, &route, e);
	return rc ? rc : verbs_aim(t, &route, t->peer_qp_num, (uint32_t)qkey, e);
}

static int accept_datagrams(struct verbs *t, const json_t *peer, struct err *e)
{
	int rc = bring_datagram_up(t, e);

	if (!rc && t->send_ring.slots)
		rc = aim_back(t, peer, e);
	return rc ? rc : accept_request(t, e);
}

static int accept_connection(struct verbs *t, int64_t deadline, struct err *e)
{
	int rc = to_state(t, IBV_QPS_INIT, e);

	if (!rc && !verbs_iwarp_is(t))
		rc = bring_connection_up(t, e);
	if (!rc)
		rc = accept_request(t, e);
	return rc ? rc : wait_and_forget(t, RDMA_CM_EVENT_ESTABLISHED, "wait for the source", deadline, e);
}

static int connect_sink(struct verbs *t, const json_t *peer, int64_t deadline, struct err *e)
{
	struct rdma_cm_event *event;
	int rc = wait_for(t, RDMA_CM_EVENT_CONNECT_REQUEST, "wait for the source", deadline, &event, e);

	if (rc)
		return rc;
	t->cm.id = event->id;
	rdma_ack_cm_event(event);
	return t->kind->type == IBV_QPT_UD ? accept_datagrams(t, peer, e) : accept_connection(t, deadline, e);
}

bool verbs_cm_says_removed(struct verbs *t)
{
	struct rdma_cm_event *event;
	bool removed;

	if (rdma_get_cm_event(t->cm.channel, &event))
		return false;
	removed = event->event == RDMA_CM_EVENT_DEVICE_REMOVAL;
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		refuse(event);
	else
		rdma_ack_cm_event(event);
	return removed;
}

static int cm_connect(struct verbs *t, const json_t *peer, int64_t deadline, struct err *e)
{
	return t->config.role == ROLE_SOURCE ? cm_connect_source(t, peer, deadline, e)
					     : connect_sink(t, peer, deadline, e);
}

const struct verbs_setup verbs_setup_cm = {cm_open, cm_publish, cm_connect, cm_close};
