/*
 * Plain queue pairs: each side publishes its number, its first packet sequence number and where its port is, and brings
 * its queue pair up by itself. Nothing but the queue pair travels on the network, so this works for all three types.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "common/err.h"
#include "transports/verbs.h"

#define LID_UNICAST_MAX 0xbfff
#define HOP_LIMIT	64

/* What the peer published, checked. */
struct plain_peer {
	int64_t psn, qkey, lid;
	union ibv_gid gid;
};

static int plain_open(struct verbs *t, struct err *e)
{
	t->context = verbs_port_open(&t->port, e);
	return t->context ? 0 : -ENODEV;
}

static void plain_close(struct verbs *t)
{
	ibv_close_device(t->context);
}

static int to_init(struct verbs *t, struct err *e)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = t->port.number, .qkey = t->qkey};

	return verbs_modify_qp(t, &a, t->kind->init_mask, e);
}

static int plain_publish(struct verbs *t, json_t *address, struct err *e)
{
	char gid[INET6_ADDRSTRLEN];
	int rc = to_init(t, e);

	if (rc)
		return rc;
	inet_ntop(AF_INET6, t->port.gid.raw, gid, sizeof(gid));
	json_object_set_new(address, "psn", json_integer(t->psn));
	json_object_set_new(address, "qkey", json_integer(t->qkey));
	json_object_set_new(address, "lid", json_integer(t->port.lid));
	json_object_set_new(address, "gid", json_string(gid));
	return 0;
}

static int read_gid(const json_t *peer, union ibv_gid *gid, struct err *e)
{
	const char *text = verbs_peer_text(peer, "gid", e);

	if (text && inet_pton(AF_INET6, text, gid->raw) == 1)
		return 0;
	return err_set(e, -EPROTO, STATUS_FAILED, "peer's address", NULL, "\"gid\" is not a GID");
}

static int read_peer(const struct verbs *t, const json_t *peer, struct plain_peer *p, struct err *e)
{
	const struct {
		const char *key;
		int64_t min, max, *value;
	} rows[] = {
	    {"psn", 0, 0xffffff, &p->psn},
	    {"qkey", 0, 0x7fffffff, &p->qkey},
	    /* Without a global route header the LID is all there is to go by. */
	    {"lid", t->port.use_grh ? 0 : 1, t->port.use_grh ? UINT16_MAX : LID_UNICAST_MAX, &p->lid},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int rc = verbs_peer_number(peer, rows[i].key, rows[i].min, rows[i].max, rows[i].value, e);

		if (rc)
			return rc;
	}
	return read_gid(peer, &p->gid, e);
}

static struct ibv_ah_attr route_to(const struct verbs *t, const struct plain_peer *p)
{
	struct ibv_ah_attr a = {.dlid = (uint16_t)p->lid, .port_num = t->port.number};

	if (t->port.use_grh) {
		a.is_global = 1;
		a.grh.dgid = p->gid;
		a.grh.sgid_index = (uint8_t)t->port.gid_index;
		a.grh.hop_limit = HOP_LIMIT;
	}
	return a;
}

/* One set of attributes; the kind's masks say which of them its state changes take. */
static int bring_up(struct verbs *t, const struct plain_peer *p, struct ibv_ah_attr *route, struct err *e)
{
	struct ibv_qp_attr a = {
	    .qp_state = IBV_QPS_RTR,
	    .ah_attr = *route,
	    .dest_qp_num = t->peer_qp_num,
	    .rq_psn = (uint32_t)p->psn,
	    .sq_psn = t->psn,
	    .path_mtu = verbs_mtu(t->mtu_bytes),
	    .max_dest_rd_atomic = 1,
	    .max_rd_atomic = 1,
	};
	int rc;

	verbs_fill_retry(t, &a);
	rc = verbs_modify_qp(t, &a, t->kind->rtr_mask, e);
	if (rc)
		return rc;
	a.qp_state = IBV_QPS_RTS;
	return verbs_modify_qp(t, &a, t->kind->rts_mask, e);
}

static int plain_connect(struct verbs *t, const json_t *peer, int64_t deadline, struct err *e)
{
	struct plain_peer p;
	struct ibv_ah_attr route;
	int rc = read_peer(t, peer, &p, e);

	(void)deadline; /* nothing here waits for the other side */
	if (rc)
		return rc;
	route = route_to(t, &p);
	rc = bring_up(t, &p, &route, e);
	if (!rc && t->kind->type == IBV_QPT_UD && t->config.role == ROLE_SOURCE)
		rc = verbs_aim(t, &route, t->peer_qp_num, (uint32_t)p.qkey, e);
	return rc;
}

const struct verbs_setup verbs_setup_plain = {plain_open, plain_publish, plain_connect, plain_close};
