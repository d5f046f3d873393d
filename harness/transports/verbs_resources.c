/*
 * What an endpoint holds of a device: buffers, completion queues, the queue pair; each function with its release.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/err.h"
#include "common/units.h"
#include "transports/verbs.h"

#define SLOT_ALIGN  64
#define QUEUE_BYTES 128 /* about what a device takes for one work request and its completion */

static size_t ring_bytes(const struct verbs_ring *r)
{
	return r->slots * r->stride;
}

static size_t total_bytes(const struct verbs *t)
{
	return ring_bytes(&t->send_ring) + ring_bytes(&t->recv_ring) +
	       ((size_t)t->send_ring.depth + t->recv_ring.depth) * QUEUE_BYTES;
}

/* A queue that is not used has one entry: not every driver makes one with none. */
static uint32_t at_least_one(uint32_t n)
{
	return n ? n : 1;
}

/* What the device's driver says it is short of is most often what this process may lock. */
static int no_resource(const struct verbs *t, int rc, const char *operation, struct err *e)
{
	size_t bytes = total_bytes(t);
	struct rlimit limit;
	char have[32], need[32];

	if (rc != -ENOMEM && rc != -EINVAL)
		return err_sys(e, rc ? rc : -EIO, t->object, operation);
	if (rc == -EINVAL || getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	    (bytes <= limit.rlim_cur && !geteuid()))
		return err_set(e, rc, STATUS_IMPOSSIBLE, t->object, operation,
			       "%s; depth %" PRId64 " with size %" PRId64 " may be more than the device takes",
			       strerror(-rc), t->config.depth, t->config.size);
	return err_set(
	    e, rc, STATUS_IMPOSSIBLE, t->object, operation,
	    "it needs about %s of locked memory and the limit is %s (RLIMIT_MEMLOCK); raise it with `ulimit -l "
	    "unlimited`, or ask for less depth or size",
	    unit_format(UNIT_BYTES, (int64_t)bytes, need, sizeof(need)),
	    unit_format(UNIT_BYTES, (int64_t)limit.rlim_cur, have, sizeof(have)));
}

static uint32_t power_of_two(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

/* Send buffers are found by masking a message's number. In front of a received datagram stands the GRH, in a line of
 * its own, so that payloads are aligned. */
static void size_rings(struct verbs *t)
{
	size_t payload = ((size_t)t->config.size + SLOT_ALIGN - 1) / SLOT_ALIGN * SLOT_ALIGN;
	size_t lead = t->kind->grh_bytes ? SLOT_ALIGN : 0;
	uint32_t depth = (uint32_t)t->config.depth;

	if (t->config.role == ROLE_SOURCE)
		t->send_ring = (struct verbs_ring){.depth = depth, .slots = power_of_two(depth), .stride = payload};
	else
		t->recv_ring =
		    (struct verbs_ring){.depth = depth, .slots = depth, .stride = payload + lead, .lead = lead};
}

/* Prefaulting more than there is would end in the hands of the kernel's out-of-memory killer. */
static int check_memory(const struct verbs *t, struct err *e)
{
	size_t most = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
	char have[32], need[32];

	if (total_bytes(t) < most)
		return 0;
	return err_set(e, -ENOMEM, STATUS_IMPOSSIBLE, t->object, NULL,
		       "depth %" PRId64 " with size %" PRId64 " needs %s of memory, and this machine has %s",
		       t->config.depth, t->config.size,
		       unit_format(UNIT_BYTES, (int64_t)total_bytes(t), need, sizeof(need)),
		       unit_format(UNIT_BYTES, (int64_t)most, have, sizeof(have)));
}

static int ring_open(struct verbs *t, struct verbs_ring *r, struct err *e)
{
	int rc;

	if (!r->depth)
		return 0;
	rc = memory_alloc(&r->memory, ring_bytes(r), t->config.numa_node, e);
	if (rc)
		return rc;
	r->mr = ibv_reg_mr(t->pd, r->memory.data, ring_bytes(r), IBV_ACCESS_LOCAL_WRITE);
	if (!r->mr) {
		rc = no_resource(t, -errno, "register the message buffers", e);
		memory_free(&r->memory);
	}
	return rc;
}

static void ring_close(struct verbs_ring *r)
{
	if (r->mr)
		ibv_dereg_mr(r->mr);
	memory_free(&r->memory);
}

static int cq_open(struct verbs *t, struct verbs_cq *q, uint32_t depth, struct err *e)
{
	int rc;

	if (t->config.poll == POLL_EVENT) {
		q->channel = ibv_create_comp_channel(t->context);
		if (!q->channel)
			return no_resource(t, -errno, "create a completion channel", e);
	}
	q->cq = ibv_create_cq(t->context, (int)at_least_one(depth), NULL, q->channel, 0);
	if (q->cq)
		return 0;
	rc = no_resource(t, -errno, "create a completion queue", e);
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

static int qp_open(struct verbs *t, struct err *e)
{
	struct ibv_qp_init_attr attr = {
	    .qp_type = t->kind->type,
	    .send_cq = t->send_cq.cq,
	    .recv_cq = t->recv_cq.cq,
	    .cap = {.max_send_wr = at_least_one(t->send_ring.depth),
		    .max_recv_wr = at_least_one(t->recv_ring.depth),
		    .max_send_sge = 1,
		    .max_recv_sge = 1},
	};

	t->qp = ibv_create_qp(t->pd, &attr);
	if (!t->qp)
		return no_resource(t, -errno, "create a queue pair", e);
	t->cap = attr.cap;
	return 0;
}

/* Everything of a work request that does not change from one message to the next. */
static void prepare_requests(struct verbs *t)
{
	struct verbs_send *s = &t->send;
	struct verbs_recv *r = &t->recv;

	s->qp = t->qp;
	s->first = (uintptr_t)t->send_ring.memory.data;
	s->stride = t->send_ring.stride;
	s->mask = t->send_ring.slots - 1;
	s->sge.length = (uint32_t)t->config.size;
	s->sge.lkey = t->send_ring.mr ? t->send_ring.mr->lkey : 0;
	s->wr.sg_list = &s->sge;
	s->wr.num_sge = 1;
	s->wr.opcode = IBV_WR_SEND_WITH_IMM;
	s->wr.send_flags = IBV_SEND_SIGNALED;

	r->qp = t->qp;
	r->first = (uintptr_t)t->recv_ring.memory.data + t->recv_ring.lead - t->kind->grh_bytes;
	r->stride = t->recv_ring.stride;
	r->payload = t->kind->grh_bytes;
	r->sge.length = (uint32_t)(t->kind->grh_bytes + (size_t)t->config.size);
	r->sge.lkey = t->recv_ring.mr ? t->recv_ring.mr->lkey : 0;
	r->wr.sg_list = &r->sge;
	r->wr.num_sge = 1;
}

int verbs_resources_open(struct verbs *t, struct err *e)
{
	int rc;

	size_rings(t);
	rc = check_memory(t, e);
	if (rc)
		return rc;
	rc = t->setup->open(t, e);
	if (rc)
		return rc;
	t->pd = ibv_alloc_pd(t->context);
	if (!t->pd) {
		rc = no_resource(t, -errno, "allocate a protection domain", e);
		goto close_setup;
	}
	rc = ring_open(t, &t->send_ring, e);
	if (rc)
		goto close_pd;
	rc = ring_open(t, &t->recv_ring, e);
	if (rc)
		goto close_send_ring;
	rc = cq_open(t, &t->send_cq, t->send_ring.depth, e);
	if (rc)
		goto close_recv_ring;
	rc = cq_open(t, &t->recv_cq, t->recv_ring.depth, e);
	if (rc)
		goto close_send_cq;
	rc = qp_open(t, e);
	if (rc)
		goto close_recv_cq;
	prepare_requests(t);
	return 0;
close_recv_cq:
	cq_close(&t->recv_cq);
close_send_cq:
	cq_close(&t->send_cq);
close_recv_ring:
	ring_close(&t->recv_ring);
close_send_ring:
	ring_close(&t->send_ring);
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
	cq_close(&t->recv_cq);
	cq_close(&t->send_cq);
	ring_close(&t->recv_ring);
	ring_close(&t->send_ring);
	ibv_dealloc_pd(t->pd);
	t->setup->close(t);
}
