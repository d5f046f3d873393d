#include "measure/transports/verbs_types.h"

#include <errno.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/or_abort.h"
#include "measure/transports/verbs_limits.h"

#define SLOT_ALIGN 64

static size_t slot_bytes(const struct verbs *t)
{
	return ((size_t)transport_largest_bytes(&t->config) + SLOT_ALIGN - 1) / SLOT_ALIGN * SLOT_ALIGN;
}

/*
 * Unsignalled requests that a stopped repetition has left in the send queue stay there until the
 * first completion of the next one, so there must be room for both.
 */
static uint32_t send_requests(const struct verbs *t)
{
	const int64_t messages = t->config.depth + (t->settings.signal_every > 1 ? t->settings.signal_every : 0);

	/* Of a message to several receivers, only the first datagram is signalled. */
	return (uint32_t)((messages + (t->settings.receivers > 1)) * t->settings.receivers);
}

/* The buffer of a message is found by masking its number. */
static struct verbs_ring send_ring(const struct verbs *t)
{
	const int64_t needed = t->config.any_payload ? 1 : t->config.depth;
	const int64_t buffers = t->settings.buffers ? t->settings.buffers : needed;

	return (struct verbs_ring){
	    .depth = send_requests(t), .slots = transport_ring_slots(buffers), .stride = slot_bytes(t)};
}

/*
 * Sends: a received datagram is preceded by the GRH, which is in a cache line of its own, so that
 * payloads are aligned.
 *
 * Writes with immediate data: `recv_depth` messages may have been received but not released yet,
 * and `depth` more may be in flight; the device writes before it checks whether there is a receive
 * request. The receiver of plain writes waits for their last bytes, so these messages end at the
 * end of a cache line instead of beginning at its start.
 *
 * If nobody looks at payloads, all messages use one slot, as in other programs that measure rates.
 */
struct verbs_ring verbs_recv_ring(const struct verbs *t)
{
	const uint32_t depth = (uint32_t)t->recv_depth;
	const bool shared = t->config.any_payload;
	size_t stride = slot_bytes(t), lead = t->kind->grh_bytes ? SLOT_ALIGN : 0;

	if (t->carrier == VERBS_IN_MEMORY)
		return (struct verbs_ring){
		    .slots = transport_ring_slots(depth), .stride = stride, .lead = stride - (size_t)t->config.size};
	if (t->config.is_passive)
		return (struct verbs_ring){.slots = shared ? 1 : transport_ring_slots(depth), .stride = stride};
	if (t->operation->is_write)
		return (struct verbs_ring){.depth = depth,
					   .slots = shared ? 1 : transport_ring_slots(t->recv_depth + t->config.depth),
					   .stride = stride};
	return (struct verbs_ring){.depth = depth,
				   .slots = shared ? 1 : depth,
				   .stride = stride + lead,
				   .lead = lead,
				   .regions = (uint32_t)t->settings.regions};
}

void verbs_ring_sizes(struct verbs *t)
{
	if (t->config.role == ROLE_SOURCE || t->config.duplex)
		t->send_ring = send_ring(t);
	if (t->config.role == ROLE_SINK || t->config.duplex)
		t->recv_ring = verbs_recv_ring(t);
}

/* The first slot of a region; that of the one after the last is the number of slots. */
static uint32_t first_slot(const struct verbs_ring *r, uint32_t region)
{
	return (uint32_t)((uint64_t)region * r->slots / r->regions);
}

uint32_t verbs_ring_lkey(const struct verbs_ring *r, uint32_t slot)
{
	return r->mr ? r->mr[(((uint64_t)slot + 1) * r->regions - 1) / r->slots]->lkey : 0;
}

static void let_go(struct verbs_ring *r, uint32_t regions)
{
	while (regions > 0)
		ibv_dereg_mr(r->mr[--regions]);
	free(r->mr);
	r->mr = NULL;
}

static int register_parts(struct verbs *t, struct verbs_ring *r, struct err *e)
{
	const int access = IBV_ACCESS_LOCAL_WRITE | (int)verbs_access(t);

	r->mr = large_alloc(r->regions, sizeof(struct ibv_mr *));
	if (!r->mr)
		return err_sys(e, -ENOMEM, t->object, "allocate memory regions");
	for (uint32_t i = 0; i < r->regions; i++) {
		const size_t from = first_slot(r, i) * r->stride, to = first_slot(r, i + 1) * r->stride;

		r->mr[i] = ibv_reg_mr(t->pd, (char *)r->memory.data + from, to - from, access);
		if (!r->mr[i]) {
			int rc = verbs_shortage(t, -errno, "register the message buffers", e);

			let_go(r, i);
			return rc;
		}
	}
	return 0;
}

int verbs_ring_open(struct verbs *t, struct verbs_ring *r, struct err *e)
{
	int rc;

	if (!r->slots)
		return 0;
	if (!r->regions)
		r->regions = 1;
	rc = (t->settings.huge_pages ? memory_alloc_huge : memory_alloc)(&r->memory, verbs_ring_bytes(r),
									 t->config.numa_node, e);
	if (rc)
		return rc;
	rc = register_parts(t, r, e);
	if (rc)
		memory_free(&r->memory);
	return rc;
}

void verbs_ring_close(struct verbs_ring *r)
{
	if (r->mr)
		let_go(r, r->regions);
	memory_free(&r->memory);
}
