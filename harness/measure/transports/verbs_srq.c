#include "measure/transports/verbs_resources.h"

#include <errno.h>
#include <stdlib.h>

#include "common/err.h"
#include "measure/transports/verbs_limits.h"
#include "measure/transports/verbs_types.h"

static bool asks_for_srq(const struct verbs *t)
{
	return t->settings.recv_queue == VERBS_RECV_SRQ && t->recv_ring.depth;
}

uint32_t verbs_srq_completions(const struct verbs *t)
{
	return asks_for_srq(t) ? 1 : 0;
}

/* It stays in INIT, where receive requests can be posted, but nobody can send to it. */
static int post_alarm(struct verbs *t)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = t->port.number};
	struct ibv_recv_wr request = {.num_sge = 0}, *bad;
	int rc = ibv_modify_qp(t->srq.alarm, &init, verbs_kinds[VERBS_RC].init_mask);

	if (!rc)
		rc = ibv_post_recv(t->srq.alarm, &request, &bad);
	return -abs(rc);
}

static int open_alarm(struct verbs *t, struct err *e)
{
	struct ibv_qp_init_attr attr = {
	    .qp_type = IBV_QPT_RC,
	    .send_cq = t->send_cq.cq,
	    .recv_cq = t->recv_cq.cq,
	    .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
	};
	int rc;

	t->srq.alarm = ibv_create_qp(t->pd, &attr);
	if (!t->srq.alarm)
		return verbs_shortage(t, -errno, "create a second queue pair, which recv_queue srq needs", e);
	rc = post_alarm(t);
	if (!rc)
		return 0;
	ibv_destroy_qp(t->srq.alarm);
	return err_sys(e, rc, t->object, "prepare a second queue pair, which recv_queue srq needs");
}

int verbs_srq_open(struct verbs *t, struct err *e)
{
	struct ibv_srq_init_attr attr = {
	    .attr = {.max_wr = t->recv_ring.depth, .max_sge = (uint32_t)t->settings.recv_sge}};
	int rc;

	if (!asks_for_srq(t))
		return 0;
	t->srq.srq = ibv_create_srq(t->pd, &attr);
	if (!t->srq.srq)
		return verbs_shortage(t, -errno, "create a shared receive queue", e);
	t->srq.max_wr = attr.attr.max_wr;
	t->srq.max_sge = attr.attr.max_sge;
	rc = open_alarm(t, e);
	if (rc)
		ibv_destroy_srq(t->srq.srq);
	return rc;
}

void verbs_srq_close(struct verbs *t)
{
	if (!t->srq.srq)
		return;
	ibv_destroy_qp(t->srq.alarm);
	ibv_destroy_srq(t->srq.srq);
}

int verbs_srq_arm(struct verbs *t, struct err *e)
{
	struct ibv_srq_attr attr = {.srq_limit = 1};
	int rc = t->srq.srq ? ibv_modify_srq(t->srq.srq, &attr, IBV_SRQ_LIMIT) : 0;

	return rc ? err_sys(e, -abs(rc), t->object, "set the limit of the shared receive queue") : 0;
}

void verbs_srq_alarm(struct verbs *t)
{
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};

	if (t->srq.srq)
		ibv_modify_qp(t->srq.alarm, &error, IBV_QP_STATE);
}
