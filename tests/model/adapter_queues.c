#include <endian.h>
#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "measure/instrument/clock.h"
#include "tests/model/adapter.h"

#define GRH_BYTES    40
#define LOOK_NS	     1000000 /* a thread that sleeps looks so often after what takes time */
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
	struct held_cq *cq;
};

struct held_ah {
	struct ibv_ah base;
	struct ibv_ah_attr attr;
};

static struct ibv_qp *held_qps[MODEL_QPS];
static struct ibv_cq *held_cqs[MODEL_CQS];
static struct ibv_srq *held_srqs[MODEL_QPS];

/* The first entry of a table that nobody alive holds; each begins with its owner. -1: there is none. */
static int find_vacant(const void *table, size_t stride, int count)
{
	for (int i = 0; i < count; i++)
		if (!model_is_alive(*(const pid_t *)(const void *)((const char *)table + (size_t)i * stride)))
			return i;
	return -1;
}

#define VACANT(table, count) find_vacant(table, sizeof((table)[0]), count)

/* --- memory --- */

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

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	struct ibv_mr *mr = model_fails("reg_mr") ? NULL : calloc(1, sizeof(*mr));
	struct rlimit lockable;
	int i;

	(void)iova;
	if (geteuid() && !getrlimit(RLIMIT_MEMLOCK, &lockable) && length > lockable.rlim_cur) {
		free(mr);
		mr = NULL;
		errno = ENOMEM;
	}
	if (!mr)
		return NULL;
	model_lock();
	i = VACANT(model->mr, MODEL_MRS);
	if (i >= 0)
		model->mr[i] = (struct model_mr){.owner = model_me,
						 .key = (uint32_t)i << 16 | (++model->generation & 0xffff),
						 .access = access,
						 .addr = (uintptr_t)addr,
						 .length = length};
	model_unlock();
	if (i < 0) {
		free(mr);
		errno = ENOMEM;
		return NULL;
	}
	*mr = (struct ibv_mr){.context = pd->context,
			      .pd = pd,
			      .addr = addr,
			      .length = length,
			      .handle = (uint32_t)i,
			      .lkey = model->mr[i].key,
			      .rkey = model->mr[i].key};
	return mr;
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, (unsigned)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	if (model_fails("dereg_mr"))
		return errno;
	model->mr[mr->handle].owner = 0;
	free(mr);
	return 0;
}

/* Does this key of the process open these bytes? */
static bool is_open_to(pid_t owner, uint32_t key, uint64_t addr, uint64_t length, unsigned access)
{
	const uint32_t i = key >> 16;
	const struct model_mr *mr = &model->mr[i < MODEL_MRS ? i : 0];

	return i < MODEL_MRS && mr->owner == owner && mr->key == key && addr >= mr->addr &&
	       addr + length <= mr->addr + mr->length && (mr->access & access) == access;
}

/* By system calls also within one process, because the kernel copies upwards, as receivers rely on. */
static bool copy(pid_t to, uint64_t target, pid_t from, uint64_t source, size_t length)
{
	static __thread char between[65536];
	const pid_t other = from == model_me ? to : from;

	while (length) {
		const size_t n =
		    from != model_me && to != model_me && length > sizeof(between) ? sizeof(between) : length;
		const bool both = from != model_me && to != model_me;
		struct iovec here = {(void *)(uintptr_t)(both		    ? (uintptr_t)between
							 : from == model_me ? source
									    : target),
				     n};
		struct iovec there = {(void *)(uintptr_t)(from == model_me ? target : source), n};

		if ((from == model_me ? process_vm_writev : process_vm_readv)(other, &here, 1, &there, 1, 0) !=
		    (ssize_t)n)
			return false;
		there.iov_base = (void *)(uintptr_t)target;
		if (both && process_vm_writev(to, &here, 1, &there, 1, 0) != (ssize_t)n)
			return false;
		source += n;
		target += n;
		length -= n;
	}
	return true;
}

/* --- completion queues --- */

static void wake(struct model_cq *q)
{
	atomic_fetch_add(&q->rung, 1);
	if (q->sleeping)
		syscall(SYS_futex, &q->rung, FUTEX_WAKE, 1, NULL, NULL, 0);
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

static struct ibv_cq *create_cq(struct ibv_context *context, uint32_t entries, struct ibv_comp_channel *channel)
{
	struct held_cq *cq;
	int i;

	if (model_fails("create_cq"))
		return NULL;
	cq = calloc(1, sizeof(*cq));
	model_lock();
	i = VACANT(model->cq, MODEL_CQS);
	if (i >= 0)
		model->cq[i] =
		    (struct model_cq){.size = entries, .ring = model_take(entries * sizeof(struct model_completion))};
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
	cq->plain.handle = (uint32_t)i;
	cq->plain.cqe = (int)entries;
	if (channel)
		((struct held_channel *)channel)->cq = cq;
	held_cqs[i] = &cq->plain;
	return &cq->plain;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context, struct ibv_comp_channel *channel,
			     int comp_vector)
{
	(void)cq_context;
	(void)comp_vector;
	return create_cq(context, (uint32_t)cqe, channel);
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	held_cqs[cq->handle] = NULL;
	model->cq[cq->handle].owner = 0;
	free(cq);
	return 0;
}

static void progress_mine(void);

/* Take the oldest completion that is there. */
static bool take(struct ibv_cq *cq, struct model_completion *c)
{
	struct model_cq *q = &model->cq[cq->handle];

	if (atomic_load_explicit(&model->stalled, memory_order_relaxed))
		progress_mine();
	if (q->head == atomic_load_explicit(&q->tail, memory_order_acquire))
		return false;
	*c = ((struct model_completion *)model_at(q->ring))[q->head % q->size];
	if (c->visible > clock_ticks_begin())
		return false;
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

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	struct held_cq *h = (struct held_cq *)cq;

	(void)attr;
	if (model_fails("start_poll"))
		return errno;
	if (!take(&h->plain, &h->now))
		return ENOENT;
	cq->status = (enum ibv_wc_status)h->now.status;
	cq->wr_id = h->now.wr_id;
	return 0;
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

static uint64_t read_stamp(struct ibv_cq_ex *cq)
{
	return ((struct held_cq *)cq)->now.stamp;
}

struct ibv_cq_ex *model_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	struct held_cq *cq;

	if (model_fails("create_cq_ex"))
		return NULL;
	cq = (struct held_cq *)create_cq(context, attr->cqe, attr->channel);
	if (!cq)
		return NULL;
	cq->stamped.start_poll = start_poll;
	cq->stamped.end_poll = end_poll;
	cq->stamped.read_vendor_err = read_vendor;
	cq->stamped.read_imm_data = read_imm;
	cq->stamped.read_completion_ts = read_stamp;
	return &cq->stamped;
}

/* --- completion channels: a sleeper looks for itself, and is woken when something is pushed --- */

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct held_channel *c = model_fails("create_comp_channel") ? NULL : calloc(1, sizeof(*c));

	if (c)
		c->base = (struct ibv_comp_channel){.context = context, .fd = eventfd(0, EFD_CLOEXEC)};
	return c ? &c->base : NULL;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
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
	q->armed = true;
	return 0;
}

static bool has_event(const struct model_cq *q)
{
	const struct model_completion *ring = model_at(q->ring);

	return q->armed && q->armed_from != q->tail && ring[q->armed_from % q->size].visible <= clock_ticks_begin();
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	struct ibv_cq *mine = &((struct held_channel *)channel)->cq->plain;
	struct model_cq *q = &model->cq[mine->handle];
	const struct timespec moment = {0, LOOK_NS};
	int rc = 0;

	if (model_fails("get_cq_event"))
		return -1;
	for (;;) {
		const uint32_t rung = atomic_load(&q->rung);

		if (atomic_load(&model->stalled))
			progress_mine();
		if (has_event(q))
			break;
		atomic_store(&q->sleeping, 1);
		rc = (int)syscall(SYS_futex, &q->rung, FUTEX_WAIT, rung, &moment, NULL, 0);
		atomic_store(&q->sleeping, 0);
		if (rc && errno == EINTR)
			return -1;
	}
	q->armed = false;
	*cq = mine;
	*cq_context = NULL;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
	(void)cq;
	(void)nevents;
}

/* --- receive queues --- */

static int post_receives(struct model_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct model_receive *ring = model_at(rq->ring);

	for (; wr; wr = wr->next) {
		*bad = wr;
		if (rq->posted - rq->taken == rq->size)
			return ENOMEM;
		ring[rq->posted++ % rq->size] = (struct model_receive){.wr_id = wr->wr_id,
								       .addr = wr->num_sge ? wr->sg_list->addr : 0,
								       .length = wr->num_sge ? wr->sg_list->length : 0,
								       .lkey = wr->num_sge ? wr->sg_list->lkey : 0};
	}
	return 0;
}

static bool make_rq(struct model_rq *rq, uint32_t size)
{
	*rq = (struct model_rq){.size = size, .ring = model_take(size * sizeof(struct model_receive))};
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
	if (i < 0 || !make_rq(&model->srq[i], attr->attr.max_wr)) {
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

/* A request of `qp` has ended. */
static void finish_send(struct model_qp *qp, const struct model_request *r, enum ibv_wc_status status, int64_t at)
{
	struct model_completion c = {
	    .wr_id = r->wr_id, .status = status, .qp = qp->number, .visible = at, .retires = ++qp->sq_done};

	unstall(qp);
	if (status == IBV_WC_SUCCESS && !(r->flags & IBV_SEND_SIGNALED))
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

	return i < MODEL_QPS && model_is_alive(qp->owner) && (qp->state == IBV_QPS_RTR || qp->state == IBV_QPS_RTS)
		   ? qp
		   : NULL;
}

static bool is_write(const struct model_request *r)
{
	return r->opcode == IBV_WR_RDMA_WRITE || r->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static uint64_t source_of(const struct model_request *r)
{
	return r->flags & IBV_SEND_INLINE ? (uintptr_t)r->inlined : r->addr;
}

static pid_t source_owner(const struct model_qp *qp, const struct model_request *r)
{
	return r->flags & IBV_SEND_INLINE ? model_me : qp->owner;
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
	if (r->length && !is_open_to(dest->owner, to.lkey, to.addr, bytes, IBV_ACCESS_LOCAL_WRITE)) {
		finish_receive(dest, qp, &to, r, 0, IBV_WC_LOC_PROT_ERR, at);
		return REFUSED_LENGTH;
	}
	if (!copy(dest->owner, to.addr + before, source_owner(qp, r), source_of(r), r->length))
		return NO_ANSWER;
	finish_receive(dest, qp, &to, r, bytes, IBV_WC_SUCCESS, at);
	return DONE;
}

static enum outcome change_word(struct model_qp *qp, const struct model_request *r, pid_t owner)
{
	uint64_t word, next;

	if (!copy(model_me, (uintptr_t)&word, owner, r->remote, sizeof(word)))
		return NO_ANSWER;
	next = r->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? word + r->compare : word == r->compare ? r->swap : word;
	return copy(owner, r->remote, model_me, (uintptr_t)&next, sizeof(next)) &&
		       copy(qp->owner, r->addr, model_me, (uintptr_t)&word, sizeof(word))
		   ? DONE
		   : NO_ANSWER;
}

/* One-sided operations. */
static enum outcome reach(struct model_qp *qp, const struct model_request *r, struct model_qp *dest, int64_t at)
{
	const bool writes = is_write(r), reads = r->opcode == IBV_WR_RDMA_READ;
	const unsigned access = writes	? IBV_ACCESS_REMOTE_WRITE
				: reads ? IBV_ACCESS_REMOTE_READ
					: IBV_ACCESS_REMOTE_ATOMIC;

	if ((dest->access & access) != access || !is_open_to(dest->owner, r->rkey, r->remote, r->length, access))
		return REFUSED_ACCESS;
	if (r->opcode == IBV_WR_RDMA_WRITE_WITH_IMM && receives_of(dest)->taken == receives_of(dest)->posted)
		return qp->type == IBV_QPT_RC ? NOT_READY : DROPPED;
	if (writes && !copy(dest->owner, r->remote, source_owner(qp, r), source_of(r), r->length))
		return NO_ANSWER;
	if (r->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		return deliver(qp, r, dest, at);
	if (writes)
		return DONE;
	if (reads)
		return copy(qp->owner, r->addr, dest->owner, r->remote, r->length) ? DONE : NO_ANSWER;
	return change_word(qp, r, dest->owner);
}

static enum outcome attempt(struct model_qp *qp, const struct model_request *r, int64_t at, struct model_qp **dest)
{
	const unsigned access = r->opcode >= IBV_WR_RDMA_READ ? IBV_ACCESS_LOCAL_WRITE : 0;
	const bool sends = r->opcode == IBV_WR_SEND || r->opcode == IBV_WR_SEND_WITH_IMM;

	*dest = find_qp(r->dest);
	if (r->length && !(r->flags & IBV_SEND_INLINE) && !is_open_to(qp->owner, r->lkey, r->addr, r->length, access))
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

static void progress(struct model_qp *qp)
{
	static const enum ibv_wc_status statuses[] = {[DONE] = IBV_WC_SUCCESS,
						      [DROPPED] = IBV_WC_SUCCESS,
						      [REFUSED_ACCESS] = IBV_WC_REM_ACCESS_ERR,
						      [REFUSED_LENGTH] = IBV_WC_REM_INV_REQ_ERR,
						      [BAD_BUFFER] = IBV_WC_LOC_PROT_ERR};
	const struct model_device *d = &model_devices[qp->device];

	while (qp->state == IBV_QPS_RTS && qp->sq_done != qp->sq_posted) {
		const struct model_request *r = request_at(qp, qp->sq_done);
		const int64_t now = clock_ticks_now(), at = now + model_ticks(d->latency_ns);
		struct model_qp *dest;
		enum outcome what = attempt(qp, r, at, &dest);

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
		finish_send(qp, r, statuses[what], at + model_ticks(d->ack_ns));
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

static void note_request(struct model_qp *qp, const struct ibv_send_wr *wr)
{
	struct model_request *r = request_at(qp, qp->sq_posted);
	const bool atomic = wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	const bool datagram = qp->type == IBV_QPT_UD;

	*r = (struct model_request){.wr_id = wr->wr_id,
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
	qp->sq_posted++;
	model->packets += r->length ? (r->length + qp->mtu - 1) / qp->mtu : 1;
	model->bytes += r->length;
}

static int post_one(struct model_qp *qp, const struct ibv_send_wr *wr)
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
	note_request(qp, wr);
	return 0;
}

static int post_send(struct ibv_qp *q, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct model_qp *qp = mine(q);
	unsigned count = 0;
	int rc = 0;

	model_lock();
	for (; wr && !rc; wr = wr->next) {
		*bad = wr;
		rc = post_one(qp, wr);
		count += !rc;
	}
	progress(qp);
	model_unlock();
	while (count--)
		model_count_post();
	for (const int64_t until = clock_ticks_now() + model_ticks(model_devices[qp->device].post_ns);
	     clock_ticks_now() < until;)
		;
	return rc;
}

static int post_recv(struct ibv_qp *q, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct model_qp *qp = mine(q);
	int rc = 0;

	if (model_fails("post_recv"))
		return errno;
	model_lock();
	if (qp->state == IBV_QPS_ERR) {
		struct model_completion c = {.qp = qp->number, .status = IBV_WC_WR_FLUSH_ERR, .wr_id = wr->wr_id};

		push(qp->recv_cq, &c);
	} else {
		rc = post_receives(&qp->rq, wr, bad);
	}
	model_unlock();
	if (atomic_load(&model->stalled))
		progress_mine();
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
	if (atomic_load(&model->stalled))
		progress_mine();
	return rc;
}

extern const struct ibv_context_ops model_operations;
const struct ibv_context_ops model_operations = {.poll_cq = poll_cq,
						 .req_notify_cq = arm,
						 .post_send = post_send,
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
				.inlined = attr->cap.max_inline_data,
				.mtu = 4096,
				.sq_size = attr->cap.max_send_wr,
				.sq_stride = stride,
				.sq = model_take((size_t)attr->cap.max_send_wr * stride)};
	qp->from = qp->sq;
	if (!make_rq(&qp->rq, attr->cap.max_recv_wr) || !qp->sq)
		return false;
	qp->to = model->used;
	return true;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	const struct model_device *d = model_context_of(pd->context)->device;
	struct ibv_qp *qp;
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
	model->qp[i].device = (uint32_t)(d - model_devices);
	model->qp[i].owner = model_me;
	model_unlock();
	*qp = (struct ibv_qp){.context = pd->context,
			      .pd = pd,
			      .handle = (uint32_t)i,
			      .qp_num = model->qp[i].number,
			      .qp_type = attr->qp_type};
	held_qps[i] = qp;
	return qp;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	held_qps[qp->handle] = NULL;
	model_lock();
	unstall(mine(qp));
	mine(qp)->owner = 0;
	if (model->used == mine(qp)->to) /* as of who only tries what is possible */
		model->used = mine(qp)->from;
	model_unlock();
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
	model_unlock();
	return 0;
}

int ibv_query_qp(struct ibv_qp *q, struct ibv_qp_attr *a, int mask, struct ibv_qp_init_attr *init)
{
	(void)mask;
	(void)init;
	a->qkey = mine(q)->qkey;
	a->qp_state = (enum ibv_qp_state)mine(q)->state;
	return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct held_ah *ah = model_fails("create_ah") ? NULL : calloc(1, sizeof(*ah));

	if (ah)
		*ah = (struct held_ah){.base = {.context = pd->context, .pd = pd}, .attr = *attr};
	return ah ? &ah->base : NULL;
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
