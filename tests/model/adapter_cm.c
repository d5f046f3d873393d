/*
 * The connection manager: ids that listen are in the shared memory, and messages between event channels go through FIFOs.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/model/adapter.h"

/* Reasons of a rejection (the kernel's include/rdma/ib_cm.h). */
#define NO_LISTENER   8
#define REFUSED	      28
#define NO_DATAGRAMS  1
#define NOT_DATAGRAMS 2
#define DATA_BYTES    196

struct cm_channel {
	struct rdma_event_channel base;
	char fifo[32];
	bool is_gone;
	struct cm_channel *next;
	struct ibv_context *context[MODEL_DEVICES]; /* shared by all ids; NULL: not opened yet */
};

/* From one id to another. */
struct cm_message {
	int32_t event, status;
	uint64_t to, from; /* ids */
	char answer_to[32];
	uint32_t qp, dest_qp;
	char data[DATA_BYTES];
	uint8_t size;
};

struct cm_id {
	struct rdma_cm_id base;
	char peer_fifo[32];
	uint64_t peer;
	uint32_t qp, peer_qp;
	int listener; /* -1 */
	uint16_t port;
};

struct cm_event {
	struct rdma_cm_event base;
	char data[DATA_BYTES];
};

static struct cm_id *id_of(struct rdma_cm_id *id)
{
	return (struct cm_id *)id;
}

static bool is_datagram(const struct rdma_cm_id *id)
{
	return id->ps == RDMA_PS_UDP;
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct cm_channel *c;

	if (!model_start() || model_fails("cm_channel"))
		return NULL;
	c = calloc(1, sizeof(*c));
	c->base.fd = model_fifo(c->fifo, sizeof(c->fifo), "cm");
	return &c->base;
}

static struct cm_channel *gone;

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	struct cm_channel *c = (struct cm_channel *)channel;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", getenv("KBLAT_ADAPTER"), c->fifo);
	unlink(path);
	close(c->base.fd);
	c->is_gone = true;
	for (int i = 0; i < MODEL_DEVICES; i++)
		if (c->context[i])
			ibv_close_device(c->context[i]);
	/* It stays in memory: programs have a thread that waits for events until the process ends. */
	c->next = gone;
	gone = c;
}

/* Ids that exist: events of others are dropped. */
static struct cm_id *ids[MODEL_QPS];
static pthread_mutex_t ids_lock = PTHREAD_MUTEX_INITIALIZER;

static bool replace_id(const struct cm_id *from, struct cm_id *to)
{
	bool found = false;

	pthread_mutex_lock(&ids_lock);
	for (int i = 0; i < MODEL_QPS && !found; i++)
		if (ids[i] == from) {
			ids[i] = to;
			found = true;
		}
	pthread_mutex_unlock(&ids_lock);
	return found;
}

static bool is_id(struct cm_id *i)
{
	return replace_id(i, i);
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context, enum rdma_port_space ps)
{
	struct cm_id *i = model_fails("cm_id") ? NULL : calloc(1, sizeof(*i));

	if (!i || !replace_id(NULL, i)) {
		free(i);
		return -1;
	}
	i->base.channel = channel;
	i->base.context = context;
	i->base.ps = ps;
	i->listener = -1;
	*id = &i->base;
	return 0;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	if (id_of(id)->listener >= 0)
		model->listener[id_of(id)->listener].owner = 0;
	replace_id(id_of(id), NULL);
	free(id);
	return 0;
}

/* If the device has an interface, only its addresses are. */
static bool is_address_of(const struct model_device *d, const struct sockaddr *address)
{
	const void *bytes = address->sa_family == AF_INET
				? (const void *)&((const struct sockaddr_in *)(const void *)address)->sin_addr
				: (const void *)&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
	const size_t size = address->sa_family == AF_INET ? 4 : 16;

	for (int i = 0; i < d->gids; i++)
		if (!memcmp(d->gid[i].raw + 16 - size, bytes, size))
			return true;
	return false;
}

/* The device that has the address; the first one for any other address, unless its addresses are those of an interface. */
static bool bind_device(struct rdma_cm_id *id, const struct sockaddr *address)
{
	struct cm_channel *c = (struct cm_channel *)id->channel;
	int found = -1;

	for (int i = 0; address && i < MODEL_DEVICES && model_devices[i].base.name[0] && found < 0; i++)
		if (is_address_of(&model_devices[i], address))
			found = i;
	if (found < 0 && address && model_devices[0].netdev[0])
		return false;
	found = found < 0 ? 0 : found;
	if (!c->context[found])
		c->context[found] = ibv_open_device(&model_devices[found].base);
	id->verbs = c->context[found];
	id->port_num = 1;
	return id->verbs != NULL;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address)
{
	if (model_fails("bind_addr") || !bind_device(id, address))
		return -1;
	memcpy(&id->route.addr.src_storage, address,
	       address->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
	return 0;
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	struct cm_id *i = id_of(id);

	(void)backlog;
	if (model_fails("listen"))
		return -1;
	model_lock();
	for (int n = 0; n < MODEL_QPS && i->listener < 0; n++)
		if (!model_is_alive(model->listener[n].owner))
			i->listener = n;
	i->port = ntohs(id->route.addr.src_sin.sin_port); /* at the same place for IPv6 */
	if (!i->port)
		i->port = (uint16_t)model->next_port++;
	if (i->listener >= 0) {
		struct model_listener *l = &model->listener[i->listener];

		*l = (struct model_listener){.owner = model_me, .port = i->port, .id = (uintptr_t)i};
		sscanf(((struct cm_channel *)id->channel)->fifo, "cm.%u", &l->channel);
	}
	model_unlock();
	return 0;
}

__be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	return htons(id_of(id)->port);
}

/* --- messages --- */

static void tell(struct cm_id *from, const char *fifo, uint64_t to, enum rdma_cm_event_type event, int status,
		 const void *data, size_t size)
{
	struct cm_message m = {.event = event,
			       .status = status,
			       .to = to,
			       .from = (uintptr_t)from,
			       .qp = from->qp,
			       .dest_qp = from->peer_qp,
			       .size = (uint8_t)size};

	memcpy(m.answer_to, ((struct cm_channel *)from->base.channel)->fifo, sizeof(m.answer_to));
	if (size && size <= sizeof(m.data))
		memcpy(m.data, data, size);
	model_tell(fifo, &m, sizeof(m));
}

/* The queue pair is ready to send to its peer. */
static int connect_qp(struct cm_id *i)
{
	struct rdma_cm_id *id = &i->base;
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR};
	int mask;

	if (rdma_init_qp_attr(id, &a, &mask) || ibv_modify_qp(id->qp, &a, mask))
		return -1;
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7};
	return rdma_init_qp_attr(id, &a, &mask) || ibv_modify_qp(id->qp, &a, mask) ? -1 : 0;
}

static void tell_self(struct cm_id *i, enum rdma_cm_event_type event, int status)
{
	tell(i, ((struct cm_channel *)i->base.channel)->fifo, (uintptr_t)i, event, status, NULL, 0);
}

static void tell_peer(struct cm_id *i, enum rdma_cm_event_type event, int status)
{
	tell(i, i->peer_fifo, i->peer, event, status, NULL, 0);
}

static void tell_peer_with(struct cm_id *i, enum rdma_cm_event_type event, const struct rdma_conn_param *p)
{
	tell(i, i->peer_fifo, i->peer, event, 0, p->private_data, p->private_data_len);
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *source, struct sockaddr *dest, int timeout_ms)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)dest;
	const bool nowhere = dest->sa_family == AF_INET && (ntohl(v4->sin_addr.s_addr) & 0xffffff00) == 0xc6336400;

	(void)source;
	(void)timeout_ms;
	if (model_fails("resolve_addr"))
		return -1;
	memcpy(&id->route.addr.dst_storage, dest,
	       dest->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
	/* TEST-NET-2 is nowhere. */
	tell_self(id_of(id), nowhere ? RDMA_CM_EVENT_ADDR_ERROR : RDMA_CM_EVENT_ADDR_RESOLVED,
		  nowhere ? -EHOSTUNREACH : 0);
	if (!nowhere && !bind_device(id, dest) && !bind_device(id, NULL))
		return -1;
	if (model_fails("route_elsewhere"))
		id->port_num = 2;
	return 0;
}

/* Its subnet has no manager, who would have to make the group. */
int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *group, void *context)
{
	(void)group;
	(void)context;
	if (model_fails("join_multicast"))
		return -1;
	tell_self(id_of(id), RDMA_CM_EVENT_MULTICAST_ERROR, -EINVAL);
	return 0;
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	(void)timeout_ms;
	if (model_fails("resolve_route"))
		return -1;
	if (model_fails("no_route"))
		tell_self(id_of(id), RDMA_CM_EVENT_ROUTE_ERROR, -errno);
	else
		tell_self(id_of(id), RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	return 0;
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *p)
{
	struct cm_id *i = id_of(id);
	const uint16_t port = ntohs(id->route.addr.dst_sin.sin_port); /* at the same place for IPv6 */
	char fifo[32];

	if (model_fails("connect"))
		return -1;
	i->qp = id->qp ? id->qp->qp_num : p->qp_num;
	model_manage(i->qp);
	for (int n = 0; n < MODEL_QPS; n++) {
		const struct model_listener *l = &model->listener[n];

		if (!model_is_alive(l->owner) || l->port != port)
			continue;
		snprintf(fifo, sizeof(fifo), "cm.%u", l->channel);
		tell(i, fifo, l->id, RDMA_CM_EVENT_CONNECT_REQUEST, 0, p->private_data, p->private_data_len);
		return 0;
	}
	if (is_datagram(id))
		tell_self(i, RDMA_CM_EVENT_UNREACHABLE, NO_DATAGRAMS);
	else
		tell_self(i, RDMA_CM_EVENT_REJECTED, NO_LISTENER);
	return 0;
}

static bool is_iwarp(const struct rdma_cm_id *id)
{
	return id->verbs->device->transport_type == IBV_TRANSPORT_IWARP;
}

/* With iWARP the connection manager itself brings the queue pairs up. */
static void bring_up(uint32_t number, uint32_t dest)
{
	for (int n = 0; n < MODEL_QPS; n++)
		if (model->qp[n].owner && model->qp[n].number == number) {
			model->qp[n].dest = dest;
			model->qp[n].state = IBV_QPS_RTS;
			model->qp[n].rnr_retry = 0;
		}
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *p)
{
	struct rdma_conn_param none = {.qp_num = 0};
	struct cm_id *i = id_of(id);

	if (model_fails("accept"))
		return -1;
	if (!p)
		p = &none;
	i->qp = id->qp ? id->qp->qp_num : p->qp_num;
	model_manage(i->qp);
	if (id->qp && !is_datagram(id) && !is_iwarp(id) && connect_qp(i))
		return -1;
	if (is_iwarp(id)) {
		bring_up(i->qp, i->peer_qp);
		bring_up(i->peer_qp, i->qp);
		tell_self(i, RDMA_CM_EVENT_ESTABLISHED, 0);
	}
	if (is_datagram(id) || is_iwarp(id))
		tell_peer_with(i, RDMA_CM_EVENT_ESTABLISHED, p);
	else
		tell_peer_with(i, RDMA_CM_EVENT_CONNECT_RESPONSE, p);
	return 0;
}

int rdma_establish(struct rdma_cm_id *id)
{
	if (model_fails("establish"))
		return -1;
	tell_peer(id_of(id), RDMA_CM_EVENT_ESTABLISHED, 0);
	return 0;
}

int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t size)
{
	(void)data;
	(void)size;
	if (is_datagram(id))
		tell_peer(id_of(id), RDMA_CM_EVENT_UNREACHABLE, NOT_DATAGRAMS);
	else
		tell_peer(id_of(id), RDMA_CM_EVENT_REJECTED, REFUSED);
	return 0;
}

/* --- events --- */

static struct cm_id *id_for_request(struct cm_id *listener)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(listener->base.channel, &id, listener->base.context, listener->base.ps))
		return NULL;
	id->route = listener->base.route;
	id->verbs = listener->base.verbs;
	id->port_num = 1;
	return id_of(id);
}

static void fill_event(struct cm_event *e, const struct cm_message *m)
{
	memcpy(e->data, m->data, sizeof(e->data));
	if (is_datagram(e->base.id)) {
		e->base.param.ud = (struct rdma_ud_param){.private_data = m->size ? e->data : NULL,
							  .private_data_len = m->size,
							  .ah_attr = {.port_num = 1},
							  .qp_num = m->qp};
		return;
	}
	e->base.param.conn = (struct rdma_conn_param){.private_data = m->size ? e->data : NULL,
						      .private_data_len = m->size,
						      .responder_resources = 16,
						      .initiator_depth = 16,
						      .qp_num = m->qp};
}

/* With a queue pair of the manager's own it does what is left to do: `e` becomes what that leads to. */
static void go_on(struct cm_event *e)
{
	struct cm_id *i = id_of(e->base.id);

	if (!i->base.qp)
		return;
	if (e->base.event == RDMA_CM_EVENT_CONNECT_RESPONSE) {
		if (connect_qp(i)) {
			e->base.event = RDMA_CM_EVENT_CONNECT_ERROR;
			e->base.status = -errno;
			return;
		}
		tell_peer(i, RDMA_CM_EVENT_ESTABLISHED, 0);
		e->base.event = RDMA_CM_EVENT_ESTABLISHED;
	} else if (e->base.event == RDMA_CM_EVENT_DISCONNECTED) {
		model_break(i->base.qp);
	}
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	struct cm_message m;
	struct cm_event *e;
	struct cm_id *to;

	if (model_fails("get_cm_event"))
		return -1;
	do {
		while (((struct cm_channel *)channel)->is_gone)
			pause();
		if (read(channel->fd, &m, sizeof(m)) != sizeof(m))
			return -1;
	} while (!is_id((struct cm_id *)(uintptr_t)m.to));
	e = calloc(1, sizeof(*e));
	to = (struct cm_id *)(uintptr_t)m.to;
	e->base =
	    (struct rdma_cm_event){.id = &to->base, .event = (enum rdma_cm_event_type)m.event, .status = m.status};
	if (m.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		e->base.listen_id = &to->base;
		to = id_for_request(to);
		e->base.id = &to->base;
	}
	if (m.from != m.to) {
		to->peer = m.from;
		to->peer_qp = m.qp;
		memcpy(to->peer_fifo, m.answer_to, sizeof(to->peer_fifo));
	}
	fill_event(e, &m);
	go_on(e);
	if (m.event == RDMA_CM_EVENT_ESTABLISHED)
		model_reach_peer(to->peer_qp);
	*event = &e->base;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	free(event);
	return 0;
}

int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *a, int *mask)
{
	static const int masks[] = {
	    [IBV_QPS_INIT] = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
	    [IBV_QPS_RTR] = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	    [IBV_QPS_RTS] = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			    IBV_QP_MAX_QP_RD_ATOMIC,
	};

	if (model_fails("init_qp_attr"))
		return -1;
	*mask = masks[a->qp_state];
	if (is_datagram(id))
		*mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
	a->port_num = id->port_num;
	a->qkey = RDMA_UDP_QKEY;
	a->dest_qp_num = id_of(id)->peer_qp;
	a->path_mtu = (enum ibv_mtu)model_context_of(id->verbs)->device->path_mtu;
	return 0;
}

/* --- queue pairs that the manager makes --- */

int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT};
	int mask;

	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->pd) {
		errno = EINVAL;
		return -1;
	}
	id->qp = ibv_create_qp_ex(id->verbs, attr);
	if (!id->qp)
		return -1;
	id->pd = attr->pd;
	if (rdma_init_qp_attr(id, &a, &mask))
		return -1;
	a.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	ibv_modify_qp(id->qp, &a, mask);
	for (a.qp_state = IBV_QPS_RTR; is_datagram(id) && a.qp_state <= IBV_QPS_RTS; a.qp_state++)
		ibv_modify_qp(id->qp, &a, IBV_QP_STATE);
	return 0;
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex all = {.qp_context = attr->qp_context,
					  .send_cq = attr->send_cq,
					  .recv_cq = attr->recv_cq,
					  .srq = attr->srq,
					  .cap = attr->cap,
					  .qp_type = attr->qp_type,
					  .sq_sig_all = attr->sq_sig_all,
					  .comp_mask = IBV_QP_INIT_ATTR_PD,
					  .pd = pd};

	return rdma_create_qp_ex(id, &all);
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	ibv_destroy_qp(id->qp);
	id->qp = NULL;
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	if (id->qp)
		model_break(id->qp);
	tell_peer(id_of(id), RDMA_CM_EVENT_DISCONNECTED, 0);
	tell_self(id_of(id), RDMA_CM_EVENT_DISCONNECTED, 0);
	return 0;
}

int rdma_set_option(struct rdma_cm_id *id, int level, int name, void *value, size_t size)
{
	(void)id;
	(void)level;
	(void)name;
	(void)value;
	(void)size;
	return 0;
}

/* --- addresses --- */

static struct sockaddr *copy_address(const struct addrinfo *a, socklen_t *size)
{
	struct sockaddr *made = malloc(a->ai_addrlen);

	if (made)
		memcpy(made, a->ai_addr, a->ai_addrlen);
	*size = a->ai_addrlen;
	return made;
}

int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
		     struct rdma_addrinfo **res)
{
	const bool passive = hints && hints->ai_flags & RAI_PASSIVE;
	struct addrinfo ask = {.ai_family = hints ? hints->ai_family : 0, .ai_flags = passive ? AI_PASSIVE : 0}, *got;
	struct rdma_addrinfo *made = calloc(1, sizeof(*made));
	const int rc = made ? getaddrinfo(node, service, &ask, &got) : EAI_MEMORY;

	if (rc) {
		free(made);
		return rc;
	}
	made->ai_flags = hints ? hints->ai_flags : 0;
	made->ai_family = got->ai_family;
	made->ai_qp_type = hints && hints->ai_qp_type ? hints->ai_qp_type : IBV_QPT_RC;
	made->ai_port_space = hints && hints->ai_port_space ? hints->ai_port_space : RDMA_PS_TCP;
	if (passive)
		made->ai_src_addr = copy_address(got, &made->ai_src_len);
	else
		made->ai_dst_addr = copy_address(got, &made->ai_dst_len);
	freeaddrinfo(got);
	*res = made;
	return 0;
}

void rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
	free(res->ai_src_addr);
	free(res->ai_dst_addr);
	free(res);
}
