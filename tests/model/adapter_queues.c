#include <endian.h>
#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "measure/instrument/clock.h"
#include "tests/model/adapter.h"

#define GRH_BYTES    40
#define LOOK_NS	     1000000 /* a thread that sleeps looks so often after what takes time */
#define NEXT_NS	     100     /* a poll waits for a completion that comes so soon: its time is met better */
#define ALIVE_NS     1000000 /* so often is looked whether the other side lives */
#define LATE_MOST    512
#define FIRST_NUMBER 0x100

/* What this process holds of shared objects; the index is `handle`. */
struct held_cq {
	union {
		struct ibv_cq plain;
		struct ibv_cq_ex stamped;
	};
	struct model_completion now; /* what a poll with stamps is at */
};

struct held_channel {
	struct ibv_comp_channel base;
	int index;
};

struct held_ah {
	struct ibv_ah base;
	struct ibv_ah_attr attr;
};

static struct ibv_qp *held_qps[MODEL_QPS];
static struct ibv_cq *held_cqs[MODEL_CQS];
static int held_most; /* those are before this index */
static struct ibv_srq *held_srqs[MODEL_QPS];

int model_find_vacant(const void *table, size_t stride, int count)
{
	for (int i = 0; i < count; i++)
		if (!model_is_alive(*(const pid_t *)(const void *)((const char *)table + (size_t)i * stride)))
			return i;
	return -1;
}

/* --- protection domains --- */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = model_fails("alloc_pd") ? NULL : calloc(1, sizeof(*pd));

	if (pd)
		pd->context = context;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	free(pd);
	return 0;
}

/* --- completion queues --- */

/* Wakes the waiter for this queue. */
static void wake(const struct model_cq *q)
{
	struct model_channel *c = q->channel < 0 ? NULL : &model->channel[q->channel];

	if (!c)
		return;
	atomic_fetch_add(&c->rung, 1);
	if (c->sleeping)
		syscall(SYS_futex, &c->rung, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void push(uint32_t cq, const struct model_completion *c)
{
	struct model_cq *q = &model->cq[cq];
	struct model_completion *ring = model_at(q->ring);

	if (q->tail - q->head == q->size) {
		model_report(IBV_EVENT_CQ_ERR, cq);
		return;
	}
	ring[q->tail % q->size] = *c;
	/* In order, whatever each took. */
	if (q->tail != q->head && ring[(q->tail - 1) % q->size].visible > c->visible)
		ring[q->tail % q->size].visible = ring[(q->tail - 1) % q->size].visible;
	atomic_store_explicit(&q->tail, q->tail + 1, memory_order_release);
	wake(q);
}

static struct ibv_cq *create_cq(struct ibv_context *context, uint32_t entries, void *cq_context,
				struct ibv_comp_channel *channel)
{
	struct held_cq *cq;
	int i;

	if (model_fails("create_cq"))
		return NULL;
	cq = calloc(1, sizeof(*cq));
	model_lock();
	i = VACANT(model->cq, MODEL_CQS);
	if (i >= 0)
		model->cq[i] = (struct model_cq){.size = entries,
						 .ring = model_take(entries * sizeof(struct model_completion)),
						 .channel = channel ? ((struct held_channel *)channel)->index : -1};
	if (!cq || i < 0 || !model->cq[i].ring) {
		model_unlock();
		free(cq);
		errno = ENOMEM;
		return NULL;
	}
	model->cq[i].owner = model_me;
	model_unlock();
	cq->plain.context = context;
	cq->plain.channel = channel;
	cq->plain.cq_context = cq_context;
	cq->plain.handle = (uint32_t)i;
	cq->plain.cqe = (int)entries;
	held_cqs[i] = &cq->plain;
	held_most = i < held_most ? held_most : i + 1;
	return &cq->plain;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context, struct ibv_comp_channel *channel,
			     int comp_vector)
{
	(void)comp_vector;
	return create_cq(context, (uint32_t)cqe, cq_context, channel);
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	held_cqs[cq->handle] = NULL;
	model->cq[cq->handle].owner = 0;
	free(cq);
	return 0;
}

static void progress_mine(void);
static void settle(int64_t until);

static atomic_uint late_count;

/* What has to be done by whoever calls. */
static inline void attend(void)
{
	if (atomic_load_explicit(&model->stalled, memory_order_relaxed))
		progress_mine();
	if (atomic_load_explicit(&late_count, memory_order_relaxed))
		settle(clock_ticks_now());
}

static int64_t soon; /* NEXT_NS in ticks */

/* Take the oldest completion that is there. */
static bool take(struct ibv_cq *cq, struct model_completion *c)
{
	struct model_cq *q = &model->cq[cq->handle];

	attend();
	if (q->head == atomic_load_explicit(&q->tail, memory_order_acquire))
		return false;
	*c = ((struct model_completion *)model_at(q->ring))[q->head % q->size];
	const int64_t at = c->visible - model->clock_cost, early = at - clock_ticks_begin();

	if (early > soon)
		return false;
	while (early > 0 && clock_ticks_now() < at)
		;
	atomic_store_explicit(&q->head, q->head + 1, memory_order_release);
	if (c->retires)
		model->qp[c->qp - FIRST_NUMBER].sq_retired = c->retires;
	return true;
}

static int poll_cq(struct ibv_cq *cq, int most, struct ibv_wc *wc)
{
	struct model_completion c;
	int n = 0;

	if (model_fails("poll_cq"))
		return -1;
	for (; n < most && take(cq, &c); n++)
		wc[n] = (struct ibv_wc){.wr_id = c.wr_id,
					.status = (enum ibv_wc_status)c.status,
					.opcode = (enum ibv_wc_opcode)c.opcode,
					.vendor_err = c.vendor,
					.byte_len = c.bytes,
					.imm_data = c.imm,
					.qp_num = c.qp,
					.src_qp = c.source_qp,
					.wc_flags = c.flags};
	return n;
}

static int next_poll(struct ibv_cq_ex *cq)
{
	struct held_cq *h = (struct held_cq *)cq;

	if (!take(&h->plain, &h->now))
		return ENOENT;
	cq->status = (enum ibv_wc_status)h->now.status;
	cq->wr_id = h->now.wr_id;
	return 0;
}

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	(void)attr;
	return model_fails("start_poll") ? errno : next_poll(cq);
}

static void end_poll(struct ibv_cq_ex *cq)
{
	(void)cq;
}

static uint32_t read_vendor(struct ibv_cq_ex *cq)
{
	return ((struct held_cq *)cq)->now.vendor;
}

static __be32 read_imm(struct ibv_cq_ex *cq)
{
	return ((struct held_cq *)cq)->now.imm;
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *cq)
{
	return (enum ibv_wc_opcode)((struct held_cq *)cq)->now.opcode;
}

static uint32_t read_bytes(struct ibv_cq_ex *cq)
{
	return ((struct held_cq *)cq)->now.bytes;
}

static uint32_t read_qp(struct ibv_cq_ex *cq)
{
	return ((struct held_cq *)cq)->now.qp;
}

static uint32_t read_source_qp(struct ibv_cq_ex *cq)
{
	return ((struct held_cq *)cq)->now.source_qp;
}

static unsigned read_flags(struct ibv_cq_ex *cq)
{
	return ((struct held_cq *)cq)->now.flags;
}

static uint64_t read_stamp(struct ibv_cq_ex *cq)
{
	return ((struct held_cq *)cq)->now.stamp;
}

struct ibv_cq_ex *model_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	struct held_cq *cq;

	if (model_fails("create_cq_ex"))
		return NULL;
	cq = (struct held_cq *)create_cq(context, attr->cqe, attr->cq_context, attr->channel);
	if (!cq)
		return NULL;
	cq->stamped.start_poll = start_poll;
	cq->stamped.next_poll = next_poll;
	cq->stamped.end_poll = end_poll;
	cq->stamped.read_opcode = read_opcode;
	cq->stamped.read_byte_len = read_bytes;
	cq->stamped.read_qp_num = read_qp;
	cq->stamped.read_src_qp = read_source_qp;
	cq->stamped.read_wc_flags = read_flags;
	cq->stamped.read_vendor_err = read_vendor;
	cq->stamped.read_imm_data = read_imm;
	cq->stamped.read_completion_ts = read_stamp;
	return &cq->stamped;
}

/* --- completion channels: a sleeper looks for itself, and is woken when something is pushed --- */

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct held_channel *c = model_fails("create_comp_channel") ? NULL : calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	model_lock();
	c->index = VACANT(model->channel, MODEL_CQS);
	if (c->index >= 0)
		model->channel[c->index] = (struct model_channel){.owner = model_me};
	model_unlock();
	if (c->index < 0) {
		free(c);
		errno = ENOMEM;
		return NULL;
	}
	c->base = (struct ibv_comp_channel){.context = context, .fd = eventfd(0, EFD_CLOEXEC)};
	return &c->base;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	model->channel[((struct held_channel *)channel)->index].owner = 0;
	close(channel->fd);
	free(channel);
	return 0;
}

static int arm(struct ibv_cq *cq, int solicited)
{
	struct model_cq *q = &model->cq[cq->handle];
	const struct model_completion *ring = model_at(q->ring);
	const int64_t now = clock_ticks_begin();

	(void)solicited;
	if (model_fails("req_notify_cq"))
		return errno;
	q->armed_from = q->head;
	while (q->armed_from != q->tail && ring[q->armed_from % q->size].visible <= now)
		q->armed_from++;
	q->event_at = 0;
	q->armed = true;
	return 0;
}

/* The tick at which the queue's event reaches a waiter; INT64_MAX: there is none yet. */
static int64_t event_of(const struct ibv_cq *cq)
{
	static const struct model_message any = {.size = 0};
	struct model_device *d = model_context_of(cq->context)->device;
	struct model_cq *q = &model->cq[cq->handle];
	const struct model_completion *ring = model_at(q->ring);

	if (!q->armed || q->armed_from == q->tail)
		return INT64_MAX;
	if (!q->event_at)
		q->event_at =
		    ring[q->armed_from % q->size].visible + model_ticks((int64_t)model_time(d, MODEL_EVENT, &any));
	return q->event_at;
}

/* The queue of the channel that is the first to have one. */
static struct ibv_cq *first_event(const struct ibv_comp_channel *channel, int64_t *at)
{
	struct ibv_cq *first = NULL;

	*at = INT64_MAX;
	for (int i = 0; i < held_most; i++)
		if (held_cqs[i] && held_cqs[i]->channel == channel && event_of(held_cqs[i]) < *at) {
			first = held_cqs[i];
			*at = event_of(first);
		}
	return first;
}

/*
 * Sleeps on the channel until it rings, but not into the time `at`; and not at first, because one who has slept wakes up at
 * no certain time. False: interrupted.
 */
static bool sleep_on(struct model_channel *c, uint32_t rung, int64_t since, int64_t at, int64_t awake)
{
	const int64_t now = clock_ticks_now();
	struct timespec moment = {0, LOOK_NS};
	double ns = LOOK_NS;
	int rc;

	if (at != INT64_MAX && (double)(at - now - awake) / model->ticks_per_ns < ns)
		ns = (double)(at - now - awake) / model->ticks_per_ns;
	if (ns <= 0 || now - since < awake) {
		cpu_relax();
		return true;
	}
	moment.tv_nsec = (long)ns;
	atomic_store(&c->sleeping, 1);
	rc = (int)syscall(SYS_futex, &c->rung, FUTEX_WAIT, rung, &moment, NULL, 0);
	atomic_store(&c->sleeping, 0);
	return !rc || errno != EINTR;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	struct model_channel *c = &model->channel[((struct held_channel *)channel)->index];
	const int64_t since = clock_ticks_now();
	const int64_t awake = model_ticks(model_context_of(channel->context)->device->awake_ns);
	struct ibv_cq *mine;
	int64_t at;

	if (model_fails("get_cq_event"))
		return -1;
	for (;;) {
		const uint32_t rung = atomic_load(&c->rung);

		pthread_testcancel();
		attend();
		mine = first_event(channel, &at);
		if (mine && at <= clock_ticks_begin())
			break;
		if (!sleep_on(c, rung, since, at, awake))
			return -1;
	}
	model->cq[mine->handle].armed = false;
	*cq = mine;
	*cq_context = mine->cq_context;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
	(void)cq;
	(void)nevents;
}

/* --- receive queues --- */

/* Only one thread posts at a time, and whoever takes one holds the lock. */
static int post_receives(struct model_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct model_receive *ring = model_at(rq->ring);

	for (; wr; wr = wr->next) {
		const uint32_t n = atomic_load_explicit(&rq->posted, memory_order_relaxed);

		*bad = wr;
		if (n - rq->taken_seen == rq->size)
			rq->taken_seen = rq->taken;
		if (n - rq->taken_seen == rq->size)
			return ENOMEM;
		ring[n % rq->size] = (struct model_receive){.wr_id = wr->wr_id,
							    .addr = wr->num_sge ? wr->sg_list->addr : 0,
							    .length = wr->num_sge ? wr->sg_list->length : 0,
							    .lkey = wr->num_sge ? wr->sg_list->lkey : 0};
		atomic_store_explicit(&rq->posted, n + 1, memory_order_release);
	}
	return 0;
}

static bool make_rq(struct model_rq *rq, uint32_t size, uint32_t sge)
{
	*rq = (struct model_rq){.size = size, .sge = sge, .ring = model_take(size * sizeof(struct model_receive))};
	return rq->ring != 0;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct ibv_srq *srq = model_fails("create_srq") ? NULL : calloc(1, sizeof(*srq));
	int i;

	if (!srq)
		return NULL;
	model_lock();
	i = VACANT(model->srq, MODEL_QPS);
	if (i < 0 || !make_rq(&model->srq[i], attr->attr.max_wr, attr->attr.max_sge)) {
		model_unlock();
		free(srq);
		errno = ENOMEM;
		return NULL;
	}
	model->srq[i].owner = model_me;
	model_unlock();
	srq->context = pd->context;
	srq->handle = (uint32_t)i;
	held_srqs[i] = srq;
	return srq;
}

int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	if (model_fails("modify_srq"))
		return errno;
	if (mask & IBV_SRQ_LIMIT)
		model->srq[srq->handle].limit = attr->srq_limit;
	return 0;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	held_srqs[srq->handle] = NULL;
	model->srq[srq->handle].owner = 0;
	free(srq);
	return 0;
}

/* --- queue pairs: how they end --- */

static struct model_rq *receives_of(struct model_qp *qp)
{
	return qp->srq < 0 ? &qp->rq : &model->srq[qp->srq];
}

static struct model_request *request_at(const struct model_qp *qp, uint32_t n)
{
	return (struct model_request *)(void *)((char *)model_at(qp->sq) + (size_t)(n % qp->sq_size) * qp->sq_stride);
}

static void unstall(struct model_qp *qp)
{
	if (qp->stalled_until)
		atomic_fetch_sub(&model->stalled, 1);
	qp->stalled_until = 0;
}

/* Requests that are outstanding are flushed; those of a shared queue stay. */
static void to_error(struct model_qp *qp)
{
	const int64_t now = clock_ticks_now();
	struct model_completion c = {.qp = qp->number, .status = IBV_WC_WR_FLUSH_ERR, .visible = now};

	if (qp->state == IBV_QPS_ERR)
		return;
	qp->state = IBV_QPS_ERR;
	unstall(qp);
	while (qp->sq_done != qp->sq_posted) {
		c.wr_id = request_at(qp, qp->sq_done++)->wr_id;
		c.retires = qp->sq_done;
		push(qp->send_cq, &c);
	}
	c.retires = 0;
	while (qp->srq < 0 && qp->rq.taken != qp->rq.posted) {
		c.wr_id = ((struct model_receive *)model_at(qp->rq.ring))[qp->rq.taken++ % qp->rq.size].wr_id;
		push(qp->recv_cq, &c);
	}
	if (qp->srq >= 0)
		model_report(IBV_EVENT_QP_LAST_WQE_REACHED, qp->number);
}

static void stamp_it(const struct model_qp *qp, struct model_completion *c, uint32_t message)
{
	c->stamp = model_stamp(&model_devices[qp->device], c->visible);
	if (model->truths < MODEL_TRUTHS)
		model->truth[model->truths++] =
		    (struct model_truth){.tick = c->visible, .number = message, .is_send = c->retires != 0};
}

static bool is_write(const struct model_request *r)
{
	return r->opcode == IBV_WR_RDMA_WRITE || r->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static bool has_imm(const struct model_request *r)
{
	return r->opcode == IBV_WR_RDMA_WRITE_WITH_IMM || r->opcode == IBV_WR_SEND_WITH_IMM;
}

/* A request of `qp` has ended. */
static void finish_send(struct model_qp *qp, const struct model_request *r, enum ibv_wc_status status, int64_t at)
{
	static const enum ibv_wc_opcode opcodes[] = {[IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
						     [IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
						     [IBV_WR_SEND] = IBV_WC_SEND,
						     [IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND,
						     [IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
						     [IBV_WR_ATOMIC_CMP_AND_SWP] = IBV_WC_COMP_SWAP,
						     [IBV_WR_ATOMIC_FETCH_AND_ADD] = IBV_WC_FETCH_ADD};
	struct model_completion c = {.wr_id = r->wr_id,
				     .status = status,
				     .opcode = opcodes[r->opcode],
				     .bytes = r->length,
				     .qp = qp->number,
				     .visible = at,
				     .retires = ++qp->sq_done};

	unstall(qp);
	if (status == IBV_WC_SUCCESS && !(r->flags & IBV_SEND_SIGNALED) && !qp->signals_all)
		return;
	if (status != IBV_WC_SUCCESS)
		c.vendor = 0x80u + status;
	qp->sent++;
	if (status == IBV_WC_SUCCESS)
		c.status = model_status(true, qp->sent, r->length, &c.vendor);
	stamp_it(qp, &c, (uint32_t)r->wr_id);
	push(qp->send_cq, &c);
	if (c.status != IBV_WC_SUCCESS)
		to_error(qp);
}

/* `qp` has received a message. */
static void finish_receive(struct model_qp *qp, const struct model_qp *source, const struct model_receive *to,
			   const struct model_request *r, uint32_t bytes, enum ibv_wc_status status, int64_t at)
{
	struct model_completion c = {.wr_id = to->wr_id,
				     .status = status,
				     .bytes = bytes,
				     .imm = r->imm,
				     .opcode = is_write(r) ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV,
				     .flags =
					 (has_imm(r) ? IBV_WC_WITH_IMM : 0) | (qp->type == IBV_QPT_UD ? IBV_WC_GRH : 0),
				     .qp = qp->number,
				     .source_qp = source->number,
				     .visible = at};

	qp->received++;
	if (status == IBV_WC_SUCCESS)
		c.status = model_status(false, qp->received, r->length, &c.vendor);
	stamp_it(qp, &c, be32toh(r->imm));
	push(qp->recv_cq, &c);
	if (c.status != IBV_WC_SUCCESS)
		to_error(qp);
}

/* --- carrying out requests --- */

/* What became of a request on the other side. */
enum outcome { DONE, DROPPED, NO_ANSWER, NOT_READY, REFUSED_ACCESS, REFUSED_LENGTH, BAD_BUFFER };

static struct model_qp *find_qp(uint32_t number)
{
	const uint32_t i = number - FIRST_NUMBER;
	struct model_qp *qp = &model->qp[i < MODEL_QPS ? i : 0];
	const int64_t now = clock_ticks_now();

	if (i >= MODEL_QPS || !qp->owner || (qp->state != IBV_QPS_RTR && qp->state != IBV_QPS_RTS))
		return NULL;
	if (qp->owner != model_me && now - qp->owner_seen > model_ticks(ALIVE_NS)) {
		if (!model_is_alive(qp->owner))
			return NULL;
		qp->owner_seen = now;
	}
	return qp;
}

void model_manage(uint32_t number)
{
	const uint32_t i = number - FIRST_NUMBER;

	if (i < MODEL_QPS)
		model->qp[i].managed = true;
}

/* Its memory is registered as soon as somebody knows its number, whatever state it is in. */
static void reach_peer(uint32_t number)
{
	const uint32_t i = number - FIRST_NUMBER;
	const pid_t owner = i < MODEL_QPS ? model->qp[i].owner : 0;

	if (owner && owner != model_me)
		model_reach(owner);
}

void model_reach_peer(uint32_t number)
{
	model_lock();
	reach_peer(number);
	model_unlock();
}

static struct model_place local(const struct model_qp *qp, const struct model_request *r)
{
	return (struct model_place){qp->owner, r->lkey, r->addr};
}

static struct model_place source_of(const struct model_qp *qp, const struct model_request *r)
{
	return r->flags & IBV_SEND_INLINE ? (struct model_place){model_me, 0, (uintptr_t)r->inlined} : local(qp, r);
}

static struct model_place in_me(const void *at)
{
	return (struct model_place){model_me, 0, (uintptr_t)at};
}

static bool take_receive(struct model_qp *qp, struct model_receive *to)
{
	struct model_rq *rq = receives_of(qp);

	if (rq->taken == rq->posted)
		return false;
	*to = ((struct model_receive *)model_at(rq->ring))[rq->taken++ % rq->size];
	if (rq->limit && rq->posted - rq->taken < rq->limit) {
		rq->limit = 0;
		model_report(IBV_EVENT_SRQ_LIMIT_REACHED, (uint32_t)(rq - model->srq));
	}
	return true;
}

/* A send, and what a write with immediate data consumes. */
static enum outcome deliver(struct model_qp *qp, const struct model_request *r, struct model_qp *dest, int64_t at)
{
	const bool datagram = qp->type == IBV_QPT_UD;
	const uint32_t before = datagram ? GRH_BYTES : 0, bytes = r->length + before;
	struct model_receive to;

	if (datagram && r->qkey != dest->qkey)
		return DROPPED;
	if (!take_receive(dest, &to))
		return qp->type == IBV_QPT_RC ? NOT_READY : DROPPED;
	if (is_write(r)) {
		finish_receive(dest, qp, &to, r, r->length, IBV_WC_SUCCESS, at);
		return DONE;
	}
	if (to.length < bytes) {
		finish_receive(dest, qp, &to, r, 0, IBV_WC_LOC_LEN_ERR, at);
		return REFUSED_LENGTH;
	}
	if (r->length && !model_is_open_to(dest->owner, to.lkey, to.addr, bytes, IBV_ACCESS_LOCAL_WRITE)) {
		finish_receive(dest, qp, &to, r, 0, IBV_WC_LOC_PROT_ERR, at);
		return REFUSED_LENGTH;
	}
	if (!model_copy((struct model_place){dest->owner, to.lkey, to.addr + before}, source_of(qp, r), r->length))
		return NO_ANSWER;
	finish_receive(dest, qp, &to, r, bytes, IBV_WC_SUCCESS, at);
	return DONE;
}

static enum outcome change_word(const struct model_qp *qp, const struct model_request *r, struct model_place there)
{
	uint64_t word = 0, next;

	if (!model_copy(in_me(&word), there, sizeof(word)))
		return NO_ANSWER;
	next = r->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? word + r->compare : word == r->compare ? r->swap : word;
	return model_copy(there, in_me(&next), sizeof(next)) && model_copy(local(qp, r), in_me(&word), sizeof(word))
		   ? DONE
		   : NO_ANSWER;
}

/*
 * The end of a write, for which the other side may be looking in its memory, is put there when it arrives: by who posted
 * it. Until then it is noted here. Only the process that posts knows of it.
 */
static struct {
	int64_t at;
	struct model_place to;
	uint64_t bytes;
	uint32_t length;
} late[LATE_MOST];
static uint32_t late_done;

void model_touch_queues(void)
{
	memset(late, 0, sizeof(late));
	memset(held_cqs, 0, sizeof(held_cqs));
	memset(held_qps, 0, sizeof(held_qps));
}

static atomic_flag late_lock = ATOMIC_FLAG_INIT;

/* In order, those that have arrived by `until`. */
static void settle(int64_t until)
{
	while (atomic_flag_test_and_set_explicit(&late_lock, memory_order_acquire))
		cpu_relax();
	for (; late_count && late[late_done % LATE_MOST].at <= until; late_done++) {
		const uint32_t i = late_done % LATE_MOST;

		model_copy(late[i].to, in_me(&late[i].bytes), late[i].length);
		atomic_fetch_sub(&late_count, 1);
	}
	atomic_flag_clear_explicit(&late_lock, memory_order_release);
}

static bool write_there(const struct model_qp *qp, const struct model_request *r, struct model_place there, int64_t at)
{
	const uint32_t end = r->length % sizeof(uint64_t) ? r->length % sizeof(uint64_t)
			     : r->length		  ? sizeof(uint64_t)
							  : 0;
	struct model_place from = source_of(qp, r);
	uint64_t bytes = 0;

	if (!model_copy(there, from, r->length - end))
		return false;
	there.addr += r->length - end;
	from.addr += r->length - end;
	if (!model_copy(in_me(&bytes), from, end))
		return false;
	if (qp->owner != model_me || late_count == LATE_MOST) {
		settle(INT64_MAX);
		return model_copy(there, in_me(&bytes), end);
	}
	while (atomic_flag_test_and_set_explicit(&late_lock, memory_order_acquire))
		cpu_relax();
	const uint32_t i = (late_done + late_count) % LATE_MOST;

	late[i].at = at - model_ticks(model_devices[qp->device].reach_ns);
	late[i].to = there;
	late[i].bytes = bytes;
	late[i].length = end;
	atomic_fetch_add(&late_count, 1);
	atomic_flag_clear_explicit(&late_lock, memory_order_release);
	return true;
}

/* One-sided operations. */
static enum outcome reach(struct model_qp *qp, const struct model_request *r, struct model_qp *dest, int64_t at)
{
	const bool writes = is_write(r), reads = r->opcode == IBV_WR_RDMA_READ;
	const unsigned access = writes	? IBV_ACCESS_REMOTE_WRITE
				: reads ? IBV_ACCESS_REMOTE_READ
					: IBV_ACCESS_REMOTE_ATOMIC;
	const struct model_place there = {dest->owner, r->rkey, r->remote};

	if ((dest->access & access) != access || !model_is_open_to(dest->owner, r->rkey, r->remote, r->length, access))
		return REFUSED_ACCESS;
	if (r->opcode == IBV_WR_RDMA_WRITE_WITH_IMM && receives_of(dest)->taken == receives_of(dest)->posted)
		return qp->type == IBV_QPT_RC ? NOT_READY : DROPPED;
	if (r->opcode == IBV_WR_RDMA_WRITE)
		return write_there(qp, r, there, at) ? DONE : NO_ANSWER;
	if (late_count)
		settle(INT64_MAX); /* in the order of requests */
	if (writes)
		return model_copy(there, source_of(qp, r), r->length) ? deliver(qp, r, dest, at) : NO_ANSWER;
	if (reads)
		return model_copy(local(qp, r), there, r->length) ? DONE : NO_ANSWER;
	return change_word(qp, r, there);
}

static enum outcome attempt(struct model_qp *qp, const struct model_request *r, int64_t at, struct model_qp **dest)
{
	const unsigned access = r->opcode >= IBV_WR_RDMA_READ ? IBV_ACCESS_LOCAL_WRITE : 0;
	const bool sends = r->opcode == IBV_WR_SEND || r->opcode == IBV_WR_SEND_WITH_IMM;

	*dest = find_qp(r->dest);
	if (r->length && !(r->flags & IBV_SEND_INLINE) &&
	    !model_is_open_to(qp->owner, r->lkey, r->addr, r->length, access))
		return BAD_BUFFER;
	if (!*dest || (*dest)->type != qp->type)
		return NO_ANSWER;
	return sends ? deliver(qp, r, *dest, at) : reach(qp, r, *dest, at);
}

/* How long it tries again: InfiniBand's code of a time is 4.096 us * 2^N, and of the RNR timer roughly 10 us * 2^(N/2). */
static void stall(struct model_qp *qp, enum outcome why, int64_t now)
{
	const bool endless = why == NOT_READY ? qp->rnr_retry == 7 : !qp->timeout;
	const int64_t ns = why == NOT_READY ? (int64_t)(qp->rnr_retry + 1) * (10000LL << (qp->rnr_timer / 2))
					    : (int64_t)(qp->retry_cnt + 1) * (4096LL << qp->timeout);

	if (!qp->stalled_until)
		atomic_fetch_add(&model->stalled, 1);
	else if (qp->stalled_status == (why == NOT_READY ? IBV_WC_RNR_RETRY_EXC_ERR : IBV_WC_RETRY_EXC_ERR))
		return;
	qp->stalled_status = why == NOT_READY ? IBV_WC_RNR_RETRY_EXC_ERR : IBV_WC_RETRY_EXC_ERR;
	qp->stalled_until = endless ? INT64_MAX : now + model_ticks(ns);
}

/* The other side of a connection fails, too. */
static void refuse_at(struct model_qp *dest, enum outcome why)
{
	if (why == REFUSED_ACCESS)
		model_report(IBV_EVENT_QP_ACCESS_ERR, dest->number);
	to_error(dest);
}

/* When a request arrives: in the order of the queue pair, and later if it had to be tried again. */
static int64_t arrival(const struct model_qp *qp, const struct model_request *r, int64_t now)
{
	const int64_t at = (qp->stalled_until ? now : r->leaves) + r->latency;

	return at < qp->last_arrival ? qp->last_arrival : at;
}

/* What the script says of it. */
static void time_request(struct model_qp *qp, struct model_request *r)
{
	struct model_device *d = &model_devices[qp->device];
	struct model_qp *dest = find_qp(r->dest);
	const struct model_message m = model_message_of(qp, r, dest, dest ? receives_of(dest) : NULL);
	int64_t *const busy_until = &model->busy_until[qp->device];

	r->latency = model_ticks(d->latency_ns);
	r->ack = model_ticks(d->ack_ns);
	r->post = model_ticks(d->post_ns);
	r->leaves = r->posted;
	r->is_lost = false;
	if (!d->effects)
		return;
	r->latency += model_ticks((int64_t)model_time(d, MODEL_LATENCY, &m));
	r->ack += model_ticks((int64_t)model_time(d, MODEL_ACK, &m));
	r->post += model_ticks((int64_t)model_time(d, MODEL_POST, &m));
	r->is_lost = qp->type != IBV_QPT_RC && model_time(d, MODEL_LOSS, &m) > 0;
	if (r->latency < 0)
		r->latency = 0;
	if (r->leaves < *busy_until)
		r->leaves = *busy_until;
	*busy_until = r->leaves + model_ticks((int64_t)model_time(d, MODEL_GAP, &m));
}

static void progress(struct model_qp *qp)
{
	static const enum ibv_wc_status statuses[] = {[DONE] = IBV_WC_SUCCESS,
						      [DROPPED] = IBV_WC_SUCCESS,
						      [REFUSED_ACCESS] = IBV_WC_REM_ACCESS_ERR,
						      [REFUSED_LENGTH] = IBV_WC_REM_INV_REQ_ERR,
						      [BAD_BUFFER] = IBV_WC_LOC_PROT_ERR};
	while (qp->state == IBV_QPS_RTS && qp->sq_done != qp->sq_posted) {
		struct model_request *r = request_at(qp, qp->sq_done);
		const int64_t now = clock_ticks_now(), at = arrival(qp, r, now);
		struct model_qp *dest;
		enum outcome what = r->is_lost ? DROPPED : attempt(qp, r, at, &dest);

		if (qp->type != IBV_QPT_RC && what != BAD_BUFFER)
			what = DONE;
		if (what == NO_ANSWER || what == NOT_READY) {
			if (!qp->stalled_until || now < qp->stalled_until)
				stall(qp, what, now);
			if (now < qp->stalled_until)
				return;
			finish_send(qp, r, qp->stalled_status, now);
			return;
		}
		if (what == REFUSED_ACCESS || what == REFUSED_LENGTH)
			refuse_at(dest, what);
		qp->last_arrival = at;
		finish_send(qp, r, statuses[what], at + r->ack);
	}
}

/* Of queue pairs that wait for the other side, or for this one. */
static void progress_mine(void)
{
	model_lock();
	for (int i = 0; model->stalled && i < MODEL_QPS; i++) {
		struct model_qp *qp = &model->qp[i];

		if (qp->stalled_until && !model_is_alive(qp->owner))
			unstall(qp);
		else if (qp->stalled_until)
			progress(qp);
	}
	model_unlock();
}

/* --- posting --- */

static struct model_qp *mine(struct ibv_qp *qp)
{
	return &model->qp[qp->handle];
}

static bool fits(const struct model_qp *qp, const struct ibv_send_wr *wr)
{
	return wr->num_sge <= 1 &&
	       (!(wr->send_flags & IBV_SEND_INLINE) || !wr->num_sge || wr->sg_list->length <= qp->inlined);
}

static void note_request(struct model_qp *qp, const struct ibv_send_wr *wr, int64_t now)
{
	struct model_request *r = request_at(qp, qp->sq_posted);
	const bool atomic = wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	const bool datagram = qp->type == IBV_QPT_UD;

	*r = (struct model_request){.posted = now,
				    .wr_id = wr->wr_id,
				    .addr = wr->num_sge ? wr->sg_list->addr : 0,
				    .length = wr->num_sge ? wr->sg_list->length : 0,
				    .lkey = wr->num_sge ? wr->sg_list->lkey : 0,
				    .imm = wr->imm_data,
				    .flags = wr->send_flags,
				    .opcode = wr->opcode,
				    .remote = datagram ? 0 : wr->wr.rdma.remote_addr,
				    .rkey = atomic ? wr->wr.atomic.rkey : wr->wr.rdma.rkey,
				    .compare = atomic ? wr->wr.atomic.compare_add : 0,
				    .swap = atomic ? wr->wr.atomic.swap : 0,
				    .dest = datagram ? wr->wr.ud.remote_qpn : qp->dest,
				    .qkey = datagram ? wr->wr.ud.remote_qkey : 0};
	if (wr->send_flags & IBV_SEND_INLINE)
		memcpy(r->inlined, (const void *)(uintptr_t)r->addr, r->length);
	time_request(qp, r);
	qp->sq_posted++;
	model->packets += r->length ? (r->length + qp->mtu - 1) / qp->mtu : 1;
	model->bytes += r->length;
}

static int post_one(struct model_qp *qp, const struct ibv_send_wr *wr, int64_t now)
{
	struct model_completion flushed = {.qp = qp->number, .status = IBV_WC_WR_FLUSH_ERR, .wr_id = wr->wr_id};

	if (model_fails("post_send"))
		return errno;
	if (qp->state < IBV_QPS_RTS || !fits(qp, wr))
		return EINVAL;
	if (qp->state == IBV_QPS_ERR) {
		flushed.retires = ++qp->sq_posted;
		qp->sq_done = qp->sq_posted;
		push(qp->send_cq, &flushed);
		return 0;
	}
	if (qp->sq_posted - qp->sq_retired == qp->sq_size)
		return ENOMEM;
	note_request(qp, wr, now);
	return 0;
}

int model_post_send(struct ibv_qp *q, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	const int64_t now = clock_ticks_begin() - model->clock_cost;
	struct model_qp *qp = mine(q);
	int64_t until = now;
	unsigned count = 0;
	int rc = 0;

	model_lock();
	for (; wr && !rc; wr = wr->next) {
		*bad = wr;
		rc = post_one(qp, wr, now);
		count += !rc;
		if (!rc && qp->state != IBV_QPS_ERR)
			until += request_at(qp, qp->sq_posted - 1)->post;
	}
	progress(qp);
	model_unlock();
	while (count--)
		model_count_post();
	while (late_count && !model_devices[qp->device].polled_writes)
		settle(clock_ticks_now());
	while (clock_ticks_now() < until)
		;
	return rc;
}

static int post_recv(struct ibv_qp *q, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct model_qp *qp = mine(q);
	int rc = 0;

	if (model_fails("post_recv"))
		return errno;
	if (qp->state == IBV_QPS_ERR) {
		struct model_completion c = {.qp = qp->number, .status = IBV_WC_WR_FLUSH_ERR, .wr_id = wr->wr_id};

		model_lock();
		push(qp->recv_cq, &c);
		model_unlock();
	} else {
		rc = post_receives(&qp->rq, wr, bad);
	}
	attend();
	return rc;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	int rc;

	if (model_fails("post_srq_recv"))
		return errno;
	model_lock();
	rc = post_receives(&model->srq[srq->handle], wr, bad);
	model_unlock();
	attend();
	return rc;
}

extern const struct ibv_context_ops model_operations;
const struct ibv_context_ops model_operations = {.poll_cq = poll_cq,
						 .req_notify_cq = arm,
						 .post_send = model_post_send,
						 .post_recv = post_recv,
						 .post_srq_recv = post_srq_recv};

/* --- queue pairs: set-up --- */

static bool make_qp(struct model_qp *qp, const struct ibv_qp_init_attr *attr)
{
	const uint32_t stride = (uint32_t)((sizeof(struct model_request) + attr->cap.max_inline_data + 63) & ~63u);

	*qp = (struct model_qp){.number = FIRST_NUMBER + (uint32_t)(qp - model->qp),
				.type = attr->qp_type,
				.send_cq = attr->send_cq->handle,
				.recv_cq = attr->recv_cq->handle,
				.srq = attr->srq ? (int32_t)attr->srq->handle : -1,
				.signals_all = attr->sq_sig_all,
				.inlined = attr->cap.max_inline_data,
				.mtu = 4096,
				.sq_size = attr->cap.max_send_wr,
				.sq_stride = stride,
				.sq = model_take((size_t)attr->cap.max_send_wr * stride)};
	qp->from = qp->sq;
	if (!make_rq(&qp->rq, attr->cap.max_recv_wr, attr->cap.max_recv_sge) || !qp->sq)
		return false;
	qp->to = model->used;
	return true;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	const struct model_device *d = model_context_of(pd->context)->device;
	struct model_held_qp *qp;
	int i;

	if (model_fails("create_qp"))
		return NULL;
	if (attr->cap.max_inline_data > d->inlined || attr->cap.max_send_wr > d->max_qp_wr ||
	    attr->cap.max_recv_wr > d->max_qp_wr) {
		errno = EINVAL;
		return NULL;
	}
	qp = calloc(1, sizeof(*qp));
	model_lock();
	i = VACANT(model->qp, MODEL_QPS);
	if (!qp || i < 0 || !make_qp(&model->qp[i], attr)) {
		model_unlock();
		free(qp);
		errno = ENOMEM;
		return NULL;
	}
	soon = model_ticks(NEXT_NS);
	model->qp[i].device = (uint32_t)(d - model_devices);
	model->qp[i].owner = model_me;
	model_unlock();
	qp->plain = (struct ibv_qp){.context = pd->context,
				    .pd = pd,
				    .qp_context = attr->qp_context,
				    .send_cq = attr->send_cq,
				    .recv_cq = attr->recv_cq,
				    .srq = attr->srq,
				    .handle = (uint32_t)i,
				    .qp_num = model->qp[i].number,
				    .qp_type = attr->qp_type};
	held_qps[i] = &qp->plain;
	return &qp->plain;
}

/* Its attributes begin as those of ibv_create_qp(). */
struct ibv_qp *model_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp *qp;

	(void)context;
	if (attr->comp_mask & ~(unsigned)(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	qp = ibv_create_qp(attr->pd, (struct ibv_qp_init_attr *)(void *)attr);
	if (qp && attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS &&
	    !model_extend((struct model_held_qp *)qp, attr->cap.max_send_wr, attr->cap.max_inline_data)) {
		ibv_destroy_qp(qp);
		errno = ENOMEM;
		return NULL;
	}
	return qp;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	settle(INT64_MAX);
	held_qps[qp->handle] = NULL;
	model_lock();
	unstall(mine(qp));
	mine(qp)->owner = 0;
	if (model->used == mine(qp)->to) /* as of who only tries what is possible */
		model->used = mine(qp)->from;
	model_unlock();
	model_unextend((struct model_held_qp *)qp);
	free(qp);
	return 0;
}

int ibv_modify_qp(struct ibv_qp *q, struct ibv_qp_attr *a, int mask)
{
	struct model_qp *qp = mine(q);

	if ((a->qp_state == IBV_QPS_INIT && model_fails("to_init")) ||
	    (a->qp_state == IBV_QPS_RTR && model_fails("to_rtr")) ||
	    (a->qp_state == IBV_QPS_RTS && model_fails("to_rts")))
		return errno;
	model_lock();
	if (mask & IBV_QP_ACCESS_FLAGS)
		qp->access = a->qp_access_flags;
	if (mask & IBV_QP_QKEY)
		qp->qkey = a->qkey;
	if (mask & IBV_QP_DEST_QPN)
		qp->dest = a->dest_qp_num;
	if (mask & IBV_QP_PATH_MTU)
		qp->mtu = 128u << a->path_mtu;
	if (mask & IBV_QP_TIMEOUT)
		qp->timeout = a->timeout;
	if (mask & IBV_QP_RETRY_CNT)
		qp->retry_cnt = a->retry_cnt;
	if (mask & IBV_QP_RNR_RETRY)
		qp->rnr_retry = a->rnr_retry;
	if (mask & IBV_QP_MIN_RNR_TIMER)
		qp->rnr_timer = a->min_rnr_timer;
	if ((mask & IBV_QP_STATE) && a->qp_state == IBV_QPS_ERR)
		to_error(qp);
	else if (mask & IBV_QP_STATE)
		qp->state = a->qp_state;
	if (mask & IBV_QP_STATE) {
		q->state = a->qp_state;
		if (a->qp_state >= IBV_QPS_RTR)
			reach_peer(qp->dest);
	}
	model_unlock();
	if ((mask & IBV_QP_STATE) && a->qp_state == IBV_QPS_RTR)
		model_touch_segment();
	return 0;
}

int ibv_query_qp(struct ibv_qp *q, struct ibv_qp_attr *a, int mask, struct ibv_qp_init_attr *init)
{
	const struct model_qp *qp = mine(q);

	(void)mask;
	a->qkey = qp->qkey;
	a->qp_state = (enum ibv_qp_state)qp->state;
	a->cap = (struct ibv_qp_cap){.max_send_wr = qp->sq_size,
				     .max_recv_wr = qp->rq.size,
				     .max_send_sge = 1,
				     .max_recv_sge = 1,
				     .max_inline_data = qp->inlined};
	if (init)
		*init = (struct ibv_qp_init_attr){.send_cq = q->send_cq,
						  .recv_cq = q->recv_cq,
						  .srq = q->srq,
						  .cap = a->cap,
						  .qp_type = q->qp_type,
						  .sq_sig_all = qp->signals_all};
	return 0;
}

void model_break(struct ibv_qp *q)
{
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};

	ibv_modify_qp(q, &error, IBV_QP_STATE);
}

/* It names a port; whose queue pair a message goes to is said by each request, so all owners are reached. */
struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct held_ah *ah = model_fails("create_ah") ? NULL : calloc(1, sizeof(*ah));

	if (!ah)
		return NULL;
	*ah = (struct held_ah){.base = {.context = pd->context, .pd = pd}, .attr = *attr};
	model_lock();
	for (uint32_t i = 0; i < MODEL_QPS; i++)
		reach_peer(FIRST_NUMBER + i);
	model_unlock();
	return &ah->base;
}

struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh, uint8_t port)
{
	struct ibv_ah_attr attr = {.port_num = port, .is_global = 1};

	(void)wc;
	(void)grh;
	return ibv_create_ah(pd, &attr);
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	free(ah);
	return 0;
}

/* --- events --- */

/* The queue that an event is about, if this context has it. */
static bool find_element(struct ibv_context *context, uint32_t n, struct ibv_async_event *event)
{
	const uint32_t qp = n - FIRST_NUMBER;

	switch (event->event_type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		event->element.qp = qp < MODEL_QPS ? held_qps[qp] : NULL;
		return event->element.qp && event->element.qp->context == context;
	case IBV_EVENT_CQ_ERR:
		event->element.cq = n < MODEL_CQS ? held_cqs[n] : NULL;
		return event->element.cq && event->element.cq->context == context;
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		event->element.srq = n < MODEL_QPS ? held_srqs[n] : NULL;
		return event->element.srq && event->element.srq->context == context;
	default:
		event->element.port_num = (int)n;
		return true;
	}
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct model_event told;

	do {
		if (read(model_context_of(context)->events_fd, &told, sizeof(told)) != sizeof(told))
			return -1;
		event->event_type = (enum ibv_event_type)told.type;
	} while (!find_element(context, told.element, event));
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
}
