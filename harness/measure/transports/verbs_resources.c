/*
 * The resources of an endpoint on a device; each function has a counterpart that releases them.
 */
#include "measure/transports/verbs_resources.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/or_abort.h"
#include "measure/instrument/device_clock.h"
#include "measure/transports/verbs_hot.h"
#include "measure/transports/verbs_limits.h"
#include "measure/transports/verbs_types.h"

/*
 * --- completion queues with the device's stamps ---
 *
 * Completions carry stamps from the device (ibv_create_cq_ex(3)), whose clock can be read
 * (ibv_query_rt_values_ex(3)). Which moment is stamped depends on the device: ConnectX stamps when it
 * writes the completion.
 */
static int query_counter(struct verbs *t, struct device_counter *counter)
{
	struct ibv_device_attr_ex attr;

	if (ibv_query_device_ex(t->context, NULL, &attr) || !attr.completion_timestamp_mask)
		return -EOPNOTSUPP;
	*counter = (struct device_counter){.mask = attr.completion_timestamp_mask, .hz = attr.hca_core_clock * 1000};
	return 0;
}

static struct ibv_cq_ex *create(struct verbs *t, struct ibv_comp_channel *channel, uint32_t depth)
{
	return ibv_create_cq_ex(t->context, &(struct ibv_cq_init_attr_ex){
						.cqe = depth,
						.channel = channel,
						.wc_flags = IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
					    });
}

/* mlx4 and mlx5 put their counter's ticks into tv_nsec. */
static int read_raw(void *argument, uint64_t *now)
{
	struct verbs *t = argument;
	struct ibv_values_ex values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};
	int rc = ibv_query_rt_values_ex(t->context, &values);

	if (rc || !(values.comp_mask & IBV_VALUES_MASK_RAW_CLOCK))
		return rc ? -abs(rc) : -EOPNOTSUPP;
	*now = (uint64_t)values.raw_clock.tv_sec * 1000000000 + (uint64_t)values.raw_clock.tv_nsec;
	return 0;
}

/* Does the device stamp completions? */
static bool verbs_has_stamps(struct verbs *t)
{
	struct ibv_cq_ex *cq;
	struct device_counter counter;
	uint64_t now;

	if (query_counter(t, &counter) || read_raw(t, &now))
		return false;
	cq = create(t, NULL, 1);
	return cq && !ibv_destroy_cq(ibv_cq_ex_to_cq(cq));
}

/* Create a completion queue with stamps from the device's clock, and store it in q->cq and
 * q->stamped; q->channel must exist. */
static int verbs_stamped_cq(struct verbs *t, struct verbs_cq *q, uint32_t depth, struct err *e)
{
	uint64_t now;

	if (query_counter(t, &t->counter))
		return err_set(e, -EOPNOTSUPP, STATUS_IMPOSSIBLE, t->object, NULL,
			       "with t_hw, the device must stamp its completions: its completion_timestamp_mask is 0");
	if (read_raw(t, &now))
		return err_set(e, -EOPNOTSUPP, STATUS_IMPOSSIBLE, t->object, NULL,
			       "with t_hw, the device's clock must be readable, and it is not");
	q->stamped = create(t, q->channel, depth);
	if (!q->stamped)
		return err_sys(e, -errno, t->object, "create a completion queue with time stamps");
	q->cq = ibv_cq_ex_to_cq(q->stamped);
	return 0;
}

int verbs_read_clock(struct transport *transport, struct device_clock_reading *now, struct device_counter *counter,
		     struct err *e)
{
	struct verbs *t = (struct verbs *)transport;
	int rc = device_clock_read(read_raw, t, now);

	*counter = t->counter;
	return rc ? err_sys(e, rc, t->object, "read the device's clock") : 0;
}

/* --- queue pair --- */

static const char *state_name(enum ibv_qp_state state)
{
	static const char *const names[] = {
	    [IBV_QPS_INIT] = "bring the queue pair to INIT",
	    [IBV_QPS_RTR] = "bring the queue pair to RTR (ready to receive)",
	    [IBV_QPS_RTS] = "bring the queue pair to RTS (ready to send)",
	};

	return state < sizeof(names) / sizeof(names[0]) && names[state] ? names[state]
									: "change the queue pair's state";
}

int verbs_modify_qp(struct verbs *t, struct ibv_qp_attr *a, int mask, struct err *e)
{
	int rc = ibv_modify_qp(t->qp, a, mask);

	for (uint32_t i = 1; !rc && i < t->pair_count; i++) {
		a->dest_qp_num = t->peer_pairs[i];
		rc = ibv_modify_qp(t->pairs[i], a, mask);
	}
	return rc ? err_sys(e, -abs(rc), t->object, state_name(a->qp_state)) : 0;
}

void verbs_fill_retry(const struct verbs *t, struct ibv_qp_attr *a)
{
	a->timeout = t->retry.timeout;
	a->retry_cnt = t->retry.retry_cnt;
	a->rnr_retry = t->retry.rnr_retry;
	a->min_rnr_timer = t->retry.min_rnr_timer;
}

/* All of a message's datagrams are posted at once, from the same memory. */
static void aim_copies(struct verbs *t)
{
	const uint32_t more = verbs_has_group(&t->settings) || t->config.role == ROLE_SINK ? 0 : t->pair_count - 1;
	struct verbs_send *s = &t->send;

	if (!verbs_has_receivers(&t->settings) || !more)
		return;
	s->copies = or_abort(calloc(more, sizeof(*s->copies)));
	for (uint32_t i = 0; i < more; i++) {
		s->copies[i] = s->wr;
		s->copies[i].wr.ud.ah = t->ah;
		s->copies[i].wr.ud.remote_qpn = t->peer_pairs[i + 1];
		s->copies[i].send_flags = s->flags;
		s->copies[i].next = i + 1 < more ? &s->copies[i + 1] : NULL;
	}
	s->wr.next = s->copies;
}

int verbs_aim(struct verbs *t, struct ibv_ah_attr *attr, uint32_t qp_num, uint32_t qkey, struct err *e)
{
	t->ah = ibv_create_ah(t->pd, attr);
	if (!t->ah)
		return err_sys(e, -errno, t->object, "create an address handle for the peer");
	t->send.remote_first = (uintptr_t)t->ah;
	t->send.wr.wr.ud.remote_qpn = qp_num;
	t->send.wr.wr.ud.remote_qkey = qkey;
	aim_copies(t);
	return 0;
}

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

static void pairs_close(struct verbs *t)
{
	for (uint32_t i = 1; i < t->pair_count; i++)
		ibv_destroy_qp(t->pairs[i]);
	ibv_destroy_qp(t->qp);
}

/* Those in addition to the first one. */
static int pairs_open(struct verbs *t, struct err *e)
{
	const bool is_several = verbs_has_receivers(&t->settings);
	const uint32_t pairs = (uint32_t)(is_several ? t->settings.receivers : t->settings.queue_pairs);
	struct ibv_qp_cap cap;

	t->pairs[0] = t->qp;
	for (t->pair_count = 1; t->pair_count < pairs; t->pair_count++) {
		struct ibv_qp *qp = create_qp(t, t->cap.max_inline_data, &cap);
		const int rc = qp ? 0 : -errno;

		if (!qp) {
			pairs_close(t);
			return verbs_shortage(t, rc, "create another queue pair", e);
		}
		t->pairs[t->pair_count] = qp;
	}
	return 0;
}

static int qp_open(struct verbs *t, struct err *e)
{
	/* Only a side that sends needs it. */
	uint32_t inline_bytes = t->send_ring.slots ? (uint32_t)t->inline_bytes : 0;
	int rc;

	t->qp = create_qp(t, inline_bytes, &t->cap);
	if (t->qp && t->cap.max_inline_data >= inline_bytes)
		return pairs_open(t, e);
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
	s->pairs = t->pairs;
	s->pair_count = t->pair_count;
	s->prepares = t->carrier == VERBS_IN_OPERANDS || t->settings.queue_pairs > 1;
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
	if (verbs_has_receivers(&t->settings) && t->config.role == ROLE_SINK)
		r->receivers = t->pair_count;
	r->wr.sg_list = &r->sge;
	r->wr.num_sge = op->is_write ? 0 : 1; /* a write contains its own target address */
}

/* The protection domain, and both rings in it. */
static int memory_open(struct verbs *t, struct err *e)
{
	int rc;

	t->pd = ibv_alloc_pd(t->context);
	if (!t->pd)
		return verbs_shortage(t, -errno, "allocate a protection domain", e);
	rc = verbs_ring_open(t, &t->send_ring, e);
	if (rc)
		goto close_pd;
	rc = verbs_ring_open(t, &t->recv_ring, e);
	if (!rc)
		return 0;
	verbs_ring_close(&t->send_ring);
close_pd:
	ibv_dealloc_pd(t->pd);
	return rc;
}

static void memory_close(struct verbs *t)
{
	verbs_ring_close(&t->recv_ring);
	verbs_ring_close(&t->send_ring);
	ibv_dealloc_pd(t->pd);
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
	rc = memory_open(t, e);
	if (rc)
		goto close_setup;
	rc = cq_open(t, &t->send_cq, t->config.poll_send, t->send_ring.depth, e);
	if (rc)
		goto close_memory;
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
	pairs_close(t);
close_srq:
	verbs_srq_close(t);
close_recv_cq:
	cq_close(&t->recv_cq);
close_send_cq:
	cq_close(&t->send_cq);
close_memory:
	memory_close(t);
close_setup:
	t->setup->close(t);
	return rc;
}

/* A queue pair that is attached to a group cannot be destroyed. */
static void verbs_detach(struct verbs *t)
{
	while (t->group.attached > 0)
		ibv_detach_mcast(t->pairs[--t->group.attached], &t->group.route.grh.dgid, t->group.route.dlid);
}

void verbs_resources_close(struct verbs *t)
{
	verbs_detach(t);
	if (t->ah)
		ibv_destroy_ah(t->ah);
	free(t->send.copies);
	pairs_close(t);
	verbs_list_close(t);
	verbs_return_close(t);
	verbs_srq_close(t);
	cq_close(&t->recv_cq);
	cq_close(&t->send_cq);
	memory_close(t);
	t->setup->close(t);
}
