/*
 * The extended interface for posting: requests are built one call at a time, and posted together at the end, as a list.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/model/adapter.h"

struct model_wr {
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	char *inlined; /* room for what the queue pair can inline */
};

static struct model_held_qp *held(struct ibv_qp_ex *qp)
{
	return (struct model_held_qp *)qp;
}

static struct model_wr *current(struct ibv_qp_ex *qp)
{
	return &held(qp)->built[held(qp)->current];
}

static void start(struct ibv_qp_ex *qp)
{
	held(qp)->count = held(qp)->current = 0;
	held(qp)->unfit = false;
}

static struct ibv_send_wr *begin(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode)
{
	struct model_held_qp *h = held(qp);
	struct model_wr *w;

	h->unfit |= h->count == h->most;
	h->current = h->unfit ? 0 : h->count++;
	w = current(qp);
	w->wr =
	    (struct ibv_send_wr){.wr_id = qp->wr_id, .opcode = opcode, .send_flags = qp->wr_flags, .sg_list = &w->sge};
	if (h->current)
		h->built[h->current - 1].wr.next = &w->wr;
	return &w->wr;
}

static void begin_send(struct ibv_qp_ex *qp)
{
	begin(qp, IBV_WR_SEND);
}

static void begin_send_imm(struct ibv_qp_ex *qp, __be32 imm)
{
	begin(qp, IBV_WR_SEND_WITH_IMM)->imm_data = imm;
}

static struct ibv_send_wr *begin_remote(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode, uint32_t rkey, uint64_t remote)
{
	struct ibv_send_wr *wr = begin(qp, opcode);

	wr->wr.rdma.rkey = rkey;
	wr->wr.rdma.remote_addr = remote;
	return wr;
}

static void begin_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote)
{
	begin_remote(qp, IBV_WR_RDMA_WRITE, rkey, remote);
}

static void begin_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote, __be32 imm)
{
	begin_remote(qp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote)->imm_data = imm;
}

static void begin_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote)
{
	begin_remote(qp, IBV_WR_RDMA_READ, rkey, remote);
}

static void begin_atomic(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode, uint32_t rkey, uint64_t remote,
			 uint64_t first, uint64_t swap)
{
	struct ibv_send_wr *wr = begin(qp, opcode);

	wr->wr.atomic.rkey = rkey;
	wr->wr.atomic.remote_addr = remote;
	wr->wr.atomic.compare_add = first;
	wr->wr.atomic.swap = swap;
}

static void begin_swap(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote, uint64_t compare, uint64_t swap)
{
	begin_atomic(qp, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote, compare, swap);
}

static void begin_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote, uint64_t add)
{
	begin_atomic(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote, add, 0);
}

static void set_recipient(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t number, uint32_t qkey)
{
	struct ibv_send_wr *wr = &current(qp)->wr;

	wr->wr.ud.ah = ah;
	wr->wr.ud.remote_qpn = number;
	wr->wr.ud.remote_qkey = qkey;
}

static void set_list(struct ibv_qp_ex *qp, size_t count, const struct ibv_sge *list)
{
	struct model_wr *w = current(qp);

	held(qp)->unfit |= count > 1;
	w->wr.num_sge = count > 0;
	if (count)
		w->sge = list[0];
}

static void set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	const struct ibv_sge one = {addr, length, lkey};

	set_list(qp, 1, &one);
}

static void set_inline_list(struct ibv_qp_ex *qp, size_t count, const struct ibv_data_buf *list)
{
	struct model_wr *w = current(qp);
	const size_t room = (size_t)(held(qp)->built[1].inlined - held(qp)->built[0].inlined);
	size_t length = 0;

	for (size_t i = 0; i < count; length += list[i++].length) {
		if (list[i].length > room - length) {
			held(qp)->unfit = true;
			return;
		}
		memcpy(w->inlined + length, list[i].addr, list[i].length);
	}
	w->sge = (struct ibv_sge){(uintptr_t)w->inlined, (uint32_t)length, 0};
	w->wr.num_sge = 1;
	w->wr.send_flags |= IBV_SEND_INLINE;
}

static void set_inline(struct ibv_qp_ex *qp, void *addr, size_t length)
{
	const struct ibv_data_buf one = {addr, length};

	set_inline_list(qp, 1, &one);
}

static int complete(struct ibv_qp_ex *qp)
{
	struct ibv_send_wr *bad;

	if (held(qp)->unfit)
		return EINVAL;
	return held(qp)->count ? model_post_send(&qp->qp_base, &held(qp)->built[0].wr, &bad) : 0;
}

bool model_extend(struct model_held_qp *h, unsigned most, unsigned inlined)
{
	struct ibv_qp_ex *qp = &h->extended;

	/* One more, so that there is always a second. */
	h->built = calloc(most + 1, sizeof(*h->built) + inlined);
	if (!h->built)
		return false;
	for (unsigned i = 0; i <= most; i++)
		h->built[i].inlined = (char *)(h->built + most + 1) + (size_t)i * inlined;
	h->most = most;
	qp->wr_start = qp->wr_abort = start;
	qp->wr_complete = complete;
	qp->wr_send = begin_send;
	qp->wr_send_imm = begin_send_imm;
	qp->wr_rdma_write = begin_write;
	qp->wr_rdma_write_imm = begin_write_imm;
	qp->wr_rdma_read = begin_read;
	qp->wr_atomic_cmp_swp = begin_swap;
	qp->wr_atomic_fetch_add = begin_add;
	qp->wr_set_ud_addr = set_recipient;
	qp->wr_set_sge = set_sge;
	qp->wr_set_sge_list = set_list;
	qp->wr_set_inline_data = set_inline;
	qp->wr_set_inline_data_list = set_inline_list;
	return true;
}

void model_unextend(struct model_held_qp *h)
{
	free(h->built);
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	return ((struct model_held_qp *)qp)->built ? &((struct model_held_qp *)qp)->extended : NULL;
}
