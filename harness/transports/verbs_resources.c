/*
 * What an endpoint holds of a device: buffers, completion queues, the queue pair; each function with its release.
 */
#include "transports/verbs_resources.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/err.h"
#include "common/units.h"
#include "transports/verbs.h"
#include "transports/verbs_list.h"
#include "transports/verbs_qp.h"
#include "transports/verbs_return.h"
#include "transports/verbs_stamps.h"

#define SLOT_ALIGN  64
#define ASKED_MAX   128
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

/* "depth 8, recv_depth 64 with size 32": what memory and queues follow from. */
static const char *asked_for(const struct verbs *t, char *buf, size_t size)
{
	char more[48] = "";

	if (t->settings.recv_depth)
		snprintf(more, sizeof(more), ", recv_depth %" PRId64, t->recv_depth);
	snprintf(buf, size, "depth %" PRId64 "%s with size %" PRId64, t->config.depth, more, t->config.size);
	return buf;
}

/* What the device's driver says it is short of is most often what this process may lock. */
static int no_resource(const struct verbs *t, int rc, const char *operation, struct err *e)
{
	size_t bytes = total_bytes(t);
	struct rlimit limit;
	char have[32], need[32], asked[ASKED_MAX];

	if (rc != -ENOMEM && rc != -EINVAL)
		return err_sys(e, rc ? rc : -EIO, t->object, operation);
	if (rc == -EINVAL || getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	    (bytes <= limit.rlim_cur && !geteuid()))
		return err_set(e, rc, STATUS_IMPOSSIBLE, t->object, operation,
			       "%s; %s may be more than the device takes", strerror(-rc),
			       asked_for(t, asked, sizeof(asked)));
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

static size_t slot_bytes(const struct verbs *t)
{
	return ((size_t)t->config.size + SLOT_ALIGN - 1) / SLOT_ALIGN * SLOT_ALIGN;
}

/*
 * What the source of a stopped repetition left in the send queue, not asked for, stays there until the first completion
 * of the next one: room for both.
 */
static uint32_t send_requests(const struct verbs *t)
{
	return (uint32_t)(t->config.depth + (t->settings.signal_every > 1 ? t->settings.signal_every : 0));
}

/* Buffers are found by masking a message's number. */
static struct verbs_ring send_ring(const struct verbs *t)
{
	const int64_t needed = t->config.any_payload ? 1 : t->config.depth;
	const int64_t buffers = t->settings.buffers ? t->settings.buffers : needed;

	return (struct verbs_ring){
	    .depth = send_requests(t), .slots = power_of_two((uint32_t)buffers), .stride = slot_bytes(t)};
}

/*
 * Sends: in front of a received datagram stands the GRH, in a line of its own, so that payloads are aligned.
 *
 * Writes with immediate: `recv_depth` messages may have been received and not be released yet, `depth` more be in flight,
 * and the device writes before it looks whether there is a receive. A write's last bytes are what is waited for, so
 * there messages end where a line does, not begin.
 *
 * Where nobody looks at payloads, all messages lie in one slot, as those of other programs that measure rates.
 */
struct verbs_ring verbs_recv_ring(const struct verbs *t)
{
	const uint32_t depth = (uint32_t)t->recv_depth;
	const bool shared = t->config.any_payload;
	size_t stride = slot_bytes(t), lead = t->kind->grh_bytes ? SLOT_ALIGN : 0;

	if (t->carrier == VERBS_IN_MEMORY)
		return (struct verbs_ring){
		    .slots = power_of_two(depth), .stride = stride, .lead = stride - (size_t)t->config.size};
	if (t->config.is_passive)
		return (struct verbs_ring){.slots = shared ? 1 : power_of_two(depth), .stride = stride};
	if (t->operation->is_write)
		return (struct verbs_ring){.depth = depth,
					   .slots = shared ? 1 : power_of_two(depth + (uint32_t)t->config.depth),
					   .stride = stride};
	return (struct verbs_ring){.depth = depth, .slots = shared ? 1 : depth, .stride = stride + lead, .lead = lead};
}

static void size_rings(struct verbs *t)
{
	if (t->config.role == ROLE_SOURCE || t->config.duplex)
		t->send_ring = send_ring(t);
	if (t->config.role == ROLE_SINK || t->config.duplex)
		t->recv_ring = verbs_recv_ring(t);
}

/* Prefaulting more than there is would end in the hands of the kernel's out-of-memory killer. */
static int check_memory(const struct verbs *t, struct err *e)
{
	size_t most = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
	char have[32], need[32], asked[ASKED_MAX];

	if (total_bytes(t) < most)
		return 0;
	return err_set(e, -ENOMEM, STATUS_IMPOSSIBLE, t->object, NULL, "%s needs %s of memory, and this machine has %s",
		       asked_for(t, asked, sizeof(asked)),
		       unit_format(UNIT_BYTES, (int64_t)total_bytes(t), need, sizeof(need)),
		       unit_format(UNIT_BYTES, (int64_t)most, have, sizeof(have)));
}

static int ring_open(struct verbs *t, struct verbs_ring *r, struct err *e)
{
	int rc, access = IBV_ACCESS_LOCAL_WRITE | (int)verbs_access(t);

	if (!r->slots)
		return 0;
	rc = (t->settings.huge_pages ? memory_alloc_huge : memory_alloc)(&r->memory, ring_bytes(r), t->config.numa_node,
									 e);
	if (rc)
		return rc;
	r->mr = ibv_reg_mr(t->pd, r->memory.data, ring_bytes(r), access);
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

static int cq_open(struct verbs *t, struct verbs_cq *q, enum poll_mode poll, uint32_t depth, struct err *e)
{
	int rc;

	if (poll != POLL_BUSY) {
		q->channel = ibv_create_comp_channel(t->context);
		if (!q->channel)
			return no_resource(t, -errno, "create a completion channel", e);
	}
	if (t->config.device_stamps) {
		rc = verbs_stamped_cq(t, q, at_least_one(depth), e);
	} else {
		q->cq = ibv_create_cq(t->context, (int)at_least_one(depth), NULL, q->channel, 0);
		rc = q->cq ? 0 : no_resource(t, -errno, "create a completion queue", e);
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

static struct ibv_qp *create_qp(struct verbs *t, uint32_t inline_bytes, struct ibv_qp_cap *granted)
{
	struct ibv_qp_init_attr attr = {
	    .qp_type = t->kind->type,
	    .send_cq = t->send_cq.cq,
	    .recv_cq = t->recv_cq.cq,
	    .cap = {.max_send_wr = at_least_one(t->send_ring.depth),
		    .max_recv_wr = at_least_one(t->recv_ring.depth),
		    .max_send_sge = 1,
		    .max_recv_sge = 1,
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

/* No attribute of the device tells its limit, and it may hang on the queue's depth: it is tried out. */
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
	char setting[OPT_STR_MAX + 32];

	snprintf(setting, sizeof(setting), "with inline %s, size", t->settings.inlined);
	return verbs_impossible(t, e, setting, t->config.size, "max_inline_data",
				most_inline(t, (uint32_t)t->inline_bytes));
}

static int qp_open(struct verbs *t, struct err *e)
{
	/* Only who sends has to be able to. */
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
	return no_resource(t, rc, "create a queue pair", e);
}

/* Everything of a work request that does not change from one message to the next. */
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
	s->sge.length = (uint32_t)t->config.size;
	s->sge.lkey = t->send_ring.mr ? t->send_ring.mr->lkey : 0;
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
	/* A write with immediate goes to the slot of its number, whichever receive it consumes. */
	r->slot_of_seq = op->opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? r->mask : 0;
	r->slot_of_last = r->slot_of_seq ? 0 : UINT32_MAX;
	r->turn = (size_t)t->config.size - t->tail;
	r->may_lose = !t->kind->is_reliable;
	r->sge.length = (uint32_t)(t->kind->grh_bytes + (size_t)t->config.size);
	r->sge.lkey = t->recv_ring.mr ? t->recv_ring.mr->lkey : 0;
	r->wr.sg_list = &r->sge;
	r->wr.num_sge = op->is_write ? 0 : 1; /* a write brings its own address */
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
	rc = cq_open(t, &t->send_cq, t->config.poll_send, t->send_ring.depth, e);
	if (rc)
		goto close_recv_ring;
	rc = cq_open(t, &t->recv_cq, t->config.poll_recv, t->recv_ring.depth, e);
	if (rc)
		goto close_send_cq;
	rc = qp_open(t, e);
	if (rc)
		goto close_recv_cq;
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
	verbs_list_close(t);
	verbs_return_close(t);
	cq_close(&t->recv_cq);
	cq_close(&t->send_cq);
	ring_close(&t->recv_ring);
	ring_close(&t->send_ring);
	ibv_dealloc_pd(t->pd);
	t->setup->close(t);
}
