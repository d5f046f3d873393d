/*
 * Plain queue pairs: each side publishes its queue pair number, its first packet sequence number
 * and the address of its port, and changes its queue pair's states by itself. The set-up does not
 * use the RDMA network, so it works for all three types.
 */
#include "transports/verbs_plain.h"

#include <errno.h>

#include "common/err.h"
#include "transports/verbs.h"
#include "transports/verbs_device.h"
#include "transports/verbs_peer.h"
#include "transports/verbs_qp.h"

/* The peer's published values, which have been checked. */
struct plain_peer {
	int64_t psn, qkey;
	struct ibv_ah_attr route;
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
	struct ibv_qp_attr a = {
	    .qp_state = IBV_QPS_INIT, .port_num = t->port.number, .qkey = t->qkey, .qp_access_flags = verbs_access(t)};

	return verbs_modify_qp(t, &a, t->kind->init_mask, e);
}

static int plain_publish(struct verbs *t, json_t *address, struct err *e)
{
	int rc = to_init(t, e);

	if (rc)
		return rc;
	json_object_set_new(address, "psn", json_integer(t->psn));
	json_object_set_new(address, "qkey", json_integer(t->qkey));
	verbs_publish_route(t, address);
	return 0;
}

static int plain_read_peer(const struct verbs *t, const json_t *peer, struct plain_peer *p, struct err *e)
{
	int rc = verbs_peer_number(peer, "psn", 0, 0xffffff, &p->psn, e);

	if (!rc)
		rc = verbs_peer_qkey(peer, &p->qkey, e);
	return rc ? rc : verbs_read_route(t, peer, &p->route, e);
}

/* One set of attributes; the type's masks select those used by each state change. */
static int bring_up(struct verbs *t, const struct plain_peer *p, struct err *e)
{
	struct ibv_qp_attr a = {
	    .qp_state = IBV_QPS_RTR,
	    .ah_attr = p->route,
	    .dest_qp_num = t->peer_qp_num,
	    .rq_psn = (uint32_t)p->psn,
	    .sq_psn = t->psn,
	    .path_mtu = verbs_mtu(t->mtu_bytes),
	    .max_dest_rd_atomic = t->rd_atomic,
	    .max_rd_atomic = t->rd_atomic,
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
	int rc = plain_read_peer(t, peer, &p, e);

	(void)deadline; /* nothing here waits for the other side */
	if (!rc)
		rc = bring_up(t, &p, e);
	if (!rc && t->kind->type == IBV_QPT_UD && t->send_ring.slots)
		rc = verbs_aim(t, &p.route, t->peer_qp_num, (uint32_t)p.qkey, e);
	return rc;
}

const struct verbs_setup verbs_setup_plain = {plain_open, plain_publish, plain_connect, plain_close};
