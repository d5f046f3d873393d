/*
 * The resources of an endpoint on a device; each function has a counterpart that releases them.
 */
#include "transports/verbs_resources.h"

#include <errno.h>
#include <stdio.h>

#include "transports/verbs.h"
#include "transports/verbs_list.h"
#include "transports/verbs_qp.h"
#include "transports/verbs_return.h"
#include "transports/verbs_ring.h"
#include "transports/verbs_shortage.h"
#include "transports/verbs_srq.h"
#include "transports/verbs_stamps.h"

/* An unused queue has one entry, because not every driver supports empty queues. */
static uint32_t at_least_one(uint32_t n)
{
	return n ? n : 1;
}

static int cq_open(struct verbs *t, struct verbs_cq *q, enum poll_mode poll, uint32_t depth, struct err *e)
{
	int rc;

	if (poll != POLL_BUSY) {
		q->channel = ibv_create_comp_channel(t->context);
		if (!q->channel)
			return verbs_shortage(t, -errno, "create a completion channel", e);
	}
	if (t->config.device_stamps) {
		rc = verbs_stamped_cq(t, q, at_least_one(depth), e);
	} else {
		q->cq = ibv_create_cq(t->context, (int)at_least_one(depth), NULL, q->channel, 0);
		rc = q->cq ? 0 : verbs_shortage(t, -errno, "create a completion queue", e);
	}
	if (!rc)
		return 0;
	if (q->channel)
		ibv_destroy_comp_channel(q->channel);
	q->channel = NULL;
	return rc;
}

/* Destroying a completion queue waits for all of its events to be acknowledged. */
void verbs_cq_acknowledge(struct verbs_cq *q)
{
	if (q->events)
		ibv_ack_cq_events(q->cq, q->events);
	q->events = 0;
}

static void cq_close(struct verbs_cq *q)
{
	verbs_cq_acknowledge(q);
	ibv_destroy_cq(q->cq);
	if (q->channel)
		ibv_destroy_comp_channel(q->channel);
}

/* With a shared receive queue, which may have higher limits, the queue pair's own receive queue is empty. */
static struct ibv_qp *create_qp(struct verbs *t, uint32_t inline_bytes, struct ibv_qp_cap *granted)
{
	const bool shared = t->srq.srq != NULL;
	struct ibv_qp_init_attr attr = {
	    .qp_type = t->kind->type,
	    .send_cq = t->send_cq.cq,
	    .recv_cq = t->recv_cq.cq,
	    .srq = t->srq.srq,
	    .cap = {.max_send_wr = at_least_one(t->send_ring.depth),
		    .max_recv_wr = shared ? 1 : at_least_one(t->recv_ring.depth),
		    .max_send_sge = 1,
		    .max_recv_sge = shared ? 1 : (uint32_t)t->settings.recv_sge,
		    .max_inline_data = inline_bytes},
	};
	struct ibv_qp *qp = ibv_create_qp(t->pd, &attr);

	*granted = attr.cap;
	return qp;
}

static bool takes_inline(struct verbs *t, uint32_t bytes)
{
	struct ibv_qp_cap cap;
	struct ibv_qp *qp = create_qp(t, bytes, &cap);

	if (!qp)
		return false;
	ibv_destroy_qp(qp);
	return cap.max_inline_data >= bytes;
}

/* Found by trying, because no attribute of the device gives the limit, which may depend on the
 * queue's depth. */
static uint32_t most_inline(struct verbs *t, uint32_t too_many)
{
	uint32_t least = 0;

	while (too_many - least > 1) {
		uint32_t middle = least + (too_many - least) / 2;

		if (takes_inline(t, middle))
			least = middle;
		else
			too_many = middle;
	}
	return least;
}

static int no_inline(struct verbs *t, struct err *e)
{
	const int64_t bytes = transport_sent_bytes(&t->config);
	char setting[OPT_STR_MAX + 32];

	snprintf(setting, sizeof(setting), "with inline %s, %s", t->settings.inlined,
		 transport_size_setting(&t->config, bytes));
	return verbs_impossible(t, e, setting, bytes, "max_inline_data", most_inline(t, (uint32_t)t->inline_bytes));
}

static int qp_open(struct verbs *t, struct err *e)
{
	/* Only a side that sends needs it. */
	uint32_t inline_bytes = t->send_ring.slots ? (uint32_t)t->inline_bytes : 0;
	int rc;

	t->qp = create_qp(t, inline_bytes, &t->cap);
	if (t->qp && t->cap.max_inline_data >= inline_bytes)
		return 0;
	rc = -errno;
	if (t->qp)
		ibv_destroy_qp(t->qp);
	t->qp = NULL;
	if (inline_bytes && !takes_inline(t, inline_bytes) && takes_inline(t, 0))
		return no_inline(t, e);
	return verbs_shortage(t, rc, "create a queue pair", e);
}

/* Prepare everything in a work request that does not change between messages. */
static void prepare_send(struct verbs *t)
{
	struct verbs_send *s = &t->send;

	s->qp = t->qp;
	s->first = (uintptr_t)t->send_ring.memory.data;
	s->stride = t->send_ring.stride;
	s->mask = t->send_ring.slots - 1;
	s->flags = t->inline_bytes ? IBV_SEND_INLINE : 0;
	s->carrier = t->carrier;
	s->head = t->head;
	s->sge.length = (uint32_t)transport_sent_bytes(&t->config);
	s->sge.lkey = verbs_ring_lkey(&t->send_ring, 0);
	s->wr.sg_list = &s->sge;
	s->wr.num_sge = 1;
	s->wr.opcode = t->operation->opcode;
}

static void prepare_recv(struct verbs *t)
{
	struct verbs_recv *r = &t->recv;
	const struct verbs_operation *op = t->operation;

	r->qp = t->qp;
	r->first = (uintptr_t)t->recv_ring.memory.data + t->recv_ring.lead - t->kind->grh_bytes;
	r->stride = t->recv_ring.stride;
	r->payload = t->kind->grh_bytes + t->head;
	r->carrier = t->carrier;
	r->mask = t->recv_ring.slots - 1;
	/* A write with immediate data goes to the slot of its number, whichever receive request it consumes. */
	r->slot_of_seq = op->opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? r->mask : 0;
	r->slot_of_last = r->slot_of_seq ? 0 : UINT32_MAX;
	r->turn = (size_t)t->config.size - t->tail;
	r->may_lose = !t->kind->is_reliable;
	r->sge.length = (uint32_t)(t->kind->grh_bytes + (size_t)transport_received_bytes(&t->config));
	r->sge.lkey = verbs_ring_lkey(&t->recv_ring, 0);
	r->srq = t->srq.srq;
	r->wr.sg_list = &r->sge;
	r->wr.num_sge = op->is_write ? 0 : 1; /* a write contains its own target address */
}

int verbs_resources_open(struct verbs *t, struct err *e)
{
	int rc;

	verbs_ring_sizes(t);
	rc = verbs_shortage_of_memory(t, e);
	if (rc)
		return rc;
	rc = t->setup->open(t, e);
	if (rc)
		return rc;
	t->pd = ibv_alloc_pd(t->context);
	if (!t->pd) {
		rc = verbs_shortage(t, -errno, "allocate a protection domain", e);
		goto close_setup;
	}
	rc = verbs_ring_open(t, &t->send_ring, e);
	if (rc)
		goto close_pd;
	rc = verbs_ring_open(t, &t->recv_ring, e);
	if (rc)
		goto close_send_ring;
	rc = cq_open(t, &t->send_cq, t->config.poll_send, t->send_ring.depth, e);
	if (rc)
		goto close_recv_ring;
	rc = cq_open(t, &t->recv_cq, t->config.poll_recv, t->recv_ring.depth + verbs_srq_completions(t), e);
	if (rc)
		goto close_send_cq;
	rc = verbs_srq_open(t, e);
	if (rc)
		goto close_recv_cq;
	rc = qp_open(t, e);
	if (rc)
		goto close_srq;
	prepare_send(t);
	prepare_recv(t);
	rc = verbs_return_open(t, e);
	if (rc)
		goto close_qp;
	rc = verbs_list_open(t, e);
	if (rc)
		goto close_return;
	t->hw_timestamps = verbs_has_stamps(t);
	return 0;
close_return:
	verbs_return_close(t);
close_qp:
	ibv_destroy_qp(t->qp);
close_srq:
	verbs_srq_close(t);
close_recv_cq:
	cq_close(&t->recv_cq);
close_send_cq:
	cq_close(&t->send_cq);
close_recv_ring:
	verbs_ring_close(&t->recv_ring);
close_send_ring:
	verbs_ring_close(&t->send_ring);
close_pd:
	ibv_dealloc_pd(t->pd);
close_setup:
	t->setup->close(t);
	return rc;
}

void verbs_resources_close(struct verbs *t)
{
	if (t->ah)
		ibv_destroy_ah(t->ah);
	ibv_destroy_qp(t->qp);
	verbs_list_close(t);
	verbs_return_close(t);
	verbs_srq_close(t);
	cq_close(&t->recv_cq);
	cq_close(&t->send_cq);
	verbs_ring_close(&t->recv_ring);
	verbs_ring_close(&t->send_ring);
	ibv_dealloc_pd(t->pd);
	t->setup->close(t);
}
