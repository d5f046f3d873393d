/*
 * What the hot path of verbs rarely needs, or only before and after a repetition.
 */
#include "measure/transports/verbs_hot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/err.h"
#include "common/or_abort.h"
#include "measure/transports/remote_window.h"
#include "measure/transports/verbs_types.h"

/* --- errors: recorded where they occur, reported afterwards --- */

#define PLACE_SIZE 192
#define COUNT(a)   (sizeof(a) / sizeof((a)[0]))

int verbs_note(struct verbs_fault *f, int rc, const char *operation, uint64_t wr_id)
{
	rc = rc ? -abs(rc) : -EIO;
	if (!f->rc)
		*f = (struct verbs_fault){.rc = rc, .operation = operation, .wr_id = wr_id};
	return rc;
}

void verbs_note_completion(struct verbs_fault *f, int polled, const struct ibv_wc *wc)
{
	if (polled < 0)
		verbs_note(f, EIO, "poll the completion queue of request", f->wr_id);
	else if (!f->rc)
		*f = (struct verbs_fault){
		    .rc = -EIO, .status = wc->status, .vendor_error = wc->vendor_err, .wr_id = wc->wr_id};
}

/* What users can do about common errors. */
#define UNEXPECTED                                                                                                     \
	"kblat never asks for what can end so: look into the device's driver and firmware, and the kernel's log"
static const struct {
	enum ibv_wc_status status;
	const char *hint;
} hints[] = {
    {IBV_WC_LOC_LEN_ERR, "the message is longer than the buffer or the path allows"},
    {IBV_WC_LOC_QP_OP_ERR, "the device could not carry it out; is its port still up?"},
    {IBV_WC_LOC_PROT_ERR, "the buffer lies outside of its memory region"},
    {IBV_WC_WR_FLUSH_ERR,
     "the queue pair was already in the error state; look for an earlier failure, or one on the other side"},
    {IBV_WC_BAD_RESP_ERR, "the other side's answer made no sense; do both adapters have current firmware?"},
    {IBV_WC_LOC_ACCESS_ERR, "a message was written where this side does not allow it; was it meant for another?"},
    {IBV_WC_REM_INV_REQ_ERR, "the receiver's buffer is too small, or the operation is not allowed there"},
    {IBV_WC_REM_ACCESS_ERR, "the receiver's memory region does not allow it"},
    {IBV_WC_REM_OP_ERR,
     "the other side's device could not carry it out; see how that side failed, and its kernel's log"},
    {IBV_WC_RETRY_EXC_ERR, "the other side did not answer: it has ended, or the path to it is broken"},
    {IBV_WC_RNR_RETRY_EXC_ERR, "the other side had no receive buffer posted; more depth or a faster receiver helps"},
    {IBV_WC_REM_ABORT_ERR, "the other side has given the operation up; see how that side failed"},
    {IBV_WC_FATAL_ERR, "the device has failed or is gone; see the kernel's log"},
    {IBV_WC_RESP_TIMEOUT_ERR,
     "the other side's answer came too late; the path is overloaded or broken, or ack_timeout too short"},
    {IBV_WC_GENERAL_ERR, "the device does not say why; see its vendor error, and the kernel's log"},
};

static const char *hint_for(enum ibv_wc_status status)
{
	for (size_t i = 0; i < COUNT(hints); i++)
		if (hints[i].status == status)
			return hints[i].hint;
	return UNEXPECTED;
}

static int failure_tell(const struct verbs *t, const struct verbs_fault *f, const char *queue, struct err *e)
{
	char object[PLACE_SIZE], operation[PLACE_SIZE];

	if (f->operation) {
		snprintf(operation, sizeof(operation), "%s %" PRIu64 " (%s queue of qp 0x%x)", f->operation, f->wr_id,
			 queue, t->qp->qp_num);
		/* The meaning of this errno according to ibv_post_send(3) and ibv_post_recv(3). */
		if (f->rc == -ENOMEM)
			return err_set(e, f->rc, STATUS_FAILED, t->object, operation, "the queue is full");
		if (f->rc == -EOVERFLOW)
			return err_set(e, f->rc, STATUS_FAILED, t->object, operation,
				       "it was overwritten before it was read: with op write the source does not know "
				       "what has been read; use shorter bursts, more recv_depth, or op write_imm");
		return err_sys(e, f->rc, t->object, operation);
	}
	snprintf(object, sizeof(object), "%s: work completion %" PRIu64 " (%s queue of qp 0x%x, op %s)", t->object,
		 f->wr_id, queue, t->qp->qp_num, t->operation->name);
	return err_set(e, f->rc, STATUS_FAILED, object, NULL, "%s (%d, vendor error 0x%x); %s",
		       ibv_wc_status_str(f->status), (int)f->status, f->vendor_error, hint_for(f->status));
}

/* What users can do about events of the device. */
static const struct {
	int event;
	const char *hint;
} event_hints[] = {
    {VERBS_REMOVED, "its driver was unloaded, or its link deleted"},
    {IBV_EVENT_DEVICE_FATAL, "the device has failed or is gone; see the kernel's log"},
    {IBV_EVENT_PORT_ERR, "the port is down, or its network interface is; see `rdma link` and `ip link`"},
    {IBV_EVENT_QP_ACCESS_ERR, "the other side requested something that this side does not allow"},
};

/* ", work completion 17 (send queue of qp 0x11): Work Request Flushed Error (5)": how a request
 * ended as a consequence. "" if none was outstanding. */
static void describe_flushed(const struct verbs *t, char *buf, size_t size)
{
	const struct verbs_fault *f = t->send_cq.fault.rc ? &t->send_cq.fault : &t->recv_cq.fault;

	buf[0] = '\0';
	if (f->rc && !f->operation)
		snprintf(buf, size, ", work completion %" PRIu64 " (%s queue of qp 0x%x): %s (%d)", f->wr_id,
			 f == &t->send_cq.fault ? "send" : "receive", t->qp->qp_num, ibv_wc_status_str(f->status),
			 (int)f->status);
}

static int tell_event(const struct verbs *t, int event, struct err *e)
{
	const char *hint = "see ibv_get_async_event(3)";
	char flushed[PLACE_SIZE];

	for (size_t i = 0; i < COUNT(event_hints); i++)
		if (event_hints[i].event == event)
			hint = event_hints[i].hint;
	describe_flushed(t, flushed, sizeof(flushed));
	return err_set(e, -EIO, STATUS_FAILED, t->object, NULL, "the device reports: %s%s; %s",
		       event == VERBS_REMOVED ? "it is being removed" : ibv_event_type_str((enum ibv_event_type)event),
		       flushed, hint);
}

static bool concerns_device(int event)
{
	return event == IBV_EVENT_DEVICE_FATAL || event == IBV_EVENT_PORT_ERR || event == VERBS_REMOVED;
}

/* Is the error just a consequence of an earlier one, or of what this side did itself (verbs_watch.c)? */
static bool is_consequence(const struct verbs_fault *f)
{
	return !f->operation && f->status == IBV_WC_WR_FLUSH_ERR;
}

static int tell_first(const struct verbs *t, bool consequences, struct err *e)
{
	/* The completions of the send side come first: they name causes, whereas the receive side
	 * and later posts only see consequences. */
	const struct {
		const struct verbs_fault *fault;
		const char *queue;
	} places[] = {{&t->send_cq.fault, "send"},
		      {&t->recv_cq.fault, "receive"},
		      {&t->send.fault, "send"},
		      {&t->recv.fault, "receive"}};

	for (size_t i = 0; i < COUNT(places); i++)
		if (places[i].fault->rc && (consequences || !is_consequence(places[i].fault)))
			return failure_tell(t, places[i].fault, places[i].queue, e);
	return 0;
}

/* A queue pair that fails while sending flushes its receive requests, which is all that a thread
 * waiting for an answer sees. The cause is among the send completions, which may not have been
 * polled yet. */
static void look_for_cause(struct verbs *t)
{
	struct ibv_wc wc;

	while (!t->send_cq.stamped && !t->send_cq.fault.rc && ibv_poll_cq(t->send_cq.cq, 1, &wc) > 0)
		if (wc.status != IBV_WC_SUCCESS)
			verbs_note_completion(&t->send_cq.fault, 1, &wc);
}

/* A work request may fail before the device reports why, so this waits for a moment for an event. */
static int event_behind(const struct verbs *t)
{
	const struct timespec moment = {0, 10000000};

	if (tell_first(t, true, NULL))
		for (int i = 0; i < 20 && !atomic_load(&t->watch.event); i++)
			nanosleep(&moment, NULL);
	return atomic_load(&t->watch.event) - 1;
}

/* Causes come before consequences: fatal events of the device, then failed work requests, then other events. */
int verbs_failure(const struct transport *transport, struct err *e)
{
	struct verbs *t = (struct verbs *)(uintptr_t)transport; /* only its error records change */
	int event, rc;

	if (tell_first(t, true, NULL) && !tell_first(t, false, NULL))
		look_for_cause(t);
	event = event_behind(t);

	if (concerns_device(event))
		return tell_event(t, event, e);
	rc = tell_first(t, false, e);
	if (!rc && event >= 0)
		rc = tell_event(t, event, e);
	return rc ? rc : tell_first(t, true, e);
}

/* --- messages that are written to memory --- */

/*
 * The next slot does not contain the expected message. Usually it still contains the previous one,
 * and the only thing to do is to check whether the device has failed, because no completion would
 * report that.
 */

static uint32_t turn_in(const struct verbs_recv *r, uint32_t slot)
{
	const uint64_t *at = (const uint64_t *)(uintptr_t)(r->first + (slot & r->mask) * r->stride + r->turn);

	return (uint32_t)(le64toh(__atomic_load_n(at, __ATOMIC_ACQUIRE)) >> 32);
}

/* How far a turn is ahead of the expected one; 0 or less: it is the expected one, or an old one. A
 * half-written turn is never ahead, because its lower bytes are written first. */
static int32_t ahead(const struct verbs_recv *r, uint32_t turn)
{
	return (int32_t)(turn - (r->taken + 1));
}

/* Messages arrive in order or not at all, so the earliest one that has arrived is next. */
static void skip_lost(struct verbs_recv *r)
{
	int32_t nearest = 0;

	for (uint32_t slot = 0; slot <= r->mask; slot++) {
		int32_t distance = ahead(r, turn_in(r, slot));

		/* It arrived after its slot was checked, and before the later one was seen. */
		if (distance == 0)
			return;
		if (distance > 0 && (!nearest || distance < nearest))
			nearest = distance;
	}
	r->taken += (uint32_t)nearest;
}

int verbs_other_turn(struct verbs *t, uint32_t turn)
{
	struct verbs_recv *r = &t->recv;

	if (verbs_unlikely(atomic_load_explicit(&t->watch.event, memory_order_relaxed)))
		return -EIO;
	if (!r->may_lose && ahead(r, turn) > 0)
		return verbs_note(&r->fault, EOVERFLOW, "take message", r->taken);
	if (r->may_lose && (ahead(r, turn) > 0 || ahead(r, turn_in(r, ++r->probe)) > 0))
		skip_lost(r);
	return 0;
}

/* --- memory that reads, atomics and unwatched writes work on --- */

static bool is_target(const struct verbs *t)
{
	return t->config.is_passive && t->recv_ring.slots && t->operation->access;
}

/* Without checks, nobody looks at what is written or read, and filling large messages would take long. */
static bool is_looked_at(const struct verbs *t)
{
	return t->operation->is_atomic || !t->config.any_payload;
}

static struct window_places verbs_places(const struct verbs *t, uint32_t count)
{
	return (struct window_places){
	    .first = (char *)t->recv_ring.memory.data + t->recv_ring.lead,
	    .stride = t->recv_ring.stride,
	    .size = (size_t)t->config.size,
	    .count = count,
	    .use = t->operation->is_atomic ? WINDOW_CHANGED
		   : t->operation->fetches ? WINDOW_READ
					   : WINDOW_WRITTEN,
	};
}

void verbs_remote_prepare(struct verbs *t)
{
	const struct window_places places = verbs_places(t, t->recv_ring.slots);

	if (t->carrier == VERBS_IN_OPERANDS)
		verbs_put_operands(&t->send, 0);
	if (is_target(t) && is_looked_at(t))
		window_fill(&places);
}

int64_t verbs_check_memory(const struct transport *transport, uint64_t posted)
{
	const struct verbs *t = (const struct verbs *)transport;
	const struct window_places places = verbs_places(t, t->recv_ring.slots);

	return is_target(t) && is_looked_at(t) ? window_wrong(&places, posted) : 0;
}

bool verbs_fetched(const struct verbs *t, uint32_t seq)
{
	const struct verbs_send *s = &t->send;
	const struct window_places places = verbs_places(t, s->remote_mask + 1);

	return window_fetched(&places, (const void *)(uintptr_t)(s->first + (seq & s->mask) * s->stride), seq);
}

/* --- requests that are posted together --- */

int verbs_list_open(struct verbs *t, struct err *e)
{
	struct verbs_send *s = &t->send;

	if (!t->config.batch || !t->send_ring.slots)
		return 0;
	s->list = large_alloc((size_t)t->config.batch, sizeof(*s->list));
	if (!s->list)
		return err_sys(e, -ENOMEM, t->object, "allocate send requests");
	verbs_list_refresh(t);
	return 0;
}

void verbs_list_refresh(struct verbs *t)
{
	struct verbs_send *s = &t->send;

	for (int64_t i = 0; s->list && i < t->config.batch; i++) {
		s->list[i] = (struct verbs_send_request){.wr = s->wr, .sge = s->sge};
		s->list[i].wr.sg_list = &s->list[i].sge;
		s->list[i].wr.next = i + 1 < t->config.batch ? &s->list[i + 1].wr : NULL;
	}
}

void verbs_list_close(struct verbs *t)
{
	free(t->send.list);
	t->send.list = NULL;
}

/*
 * The number of receive requests that are posted again together: those of a burst, so that none of
 * its messages waits for that; half of the queue if a burst is larger. For round trips all of them:
 * only one message is in flight, and filling the queue only when it is empty is what is measured.
 */
static uint32_t bulk_size(const struct verbs *t)
{
	const struct schedule *s = &t->config.schedule;
	const int64_t burst = s->burst && s->burst < s->messages ? s->burst : s->messages;
	const bool is_round_trip = t->config.duplex && !t->config.is_stream;
	const bool is_burst = s->burst && burst <= t->recv_depth;

	if (is_round_trip)
		return (uint32_t)t->recv_depth;
	return (uint32_t)(is_burst ? burst : t->recv_depth > 1 ? t->recv_depth / 2 : 1);
}

/* Requests of a shared queue or of several regions are lists of one request, so that the usual loop
 * needs no branch for them. */
static bool wants_lists(const struct verbs *t)
{
	return t->recv_ring.depth &&
	       (t->settings.returns == VERBS_RETURN_BULK || t->srq.srq || t->recv_ring.regions > 1);
}

static void note_keys(struct verbs *t)
{
	for (uint32_t i = 0; i < t->recv_ring.slots; i++)
		t->recv.lkey[i] = verbs_ring_lkey(&t->recv_ring, i);
}

int verbs_return_open(struct verbs *t, struct err *e)
{
	struct verbs_recv *r = &t->recv;

	if (!wants_lists(t))
		return 0;
	r->bulk_size = t->settings.returns == VERBS_RETURN_BULK ? bulk_size(t) : 1;
	r->bulk = large_alloc(r->bulk_size, sizeof(*r->bulk));
	r->lkey = large_alloc(t->recv_ring.slots, sizeof(*r->lkey));
	if (!r->bulk || !r->lkey) {
		verbs_return_close(t);
		return err_sys(e, -ENOMEM, t->object, "allocate receive requests");
	}
	note_keys(t);
	for (uint32_t i = 0; i < r->bulk_size; i++) {
		r->bulk[i] = (struct verbs_request){.wr = r->wr, .sge = r->sge};
		r->bulk[i].wr.sg_list = &r->bulk[i].sge;
		r->bulk[i].wr.next = i + 1 < r->bulk_size ? &r->bulk[i + 1].wr : NULL;
	}
	return 0;
}

void verbs_return_close(struct verbs *t)
{
	free(t->recv.bulk);
	free(t->recv.lkey);
	t->recv.bulk = NULL;
	t->recv.lkey = NULL;
}

static int post_requests(struct verbs_recv *r, struct ibv_recv_wr *first)
{
	struct ibv_recv_wr *bad;

	return r->srq ? ibv_post_srq_recv(r->srq, first, &bad) : ibv_post_recv(r->qp, first, &bad);
}

int verbs_post_released(struct verbs *t)
{
	struct verbs_recv *r = &t->recv;
	struct verbs_request *last = &r->bulk[r->released - 1];
	struct ibv_recv_wr *next = last->wr.next;
	const uint32_t count = r->released;

	r->released = 0;
	last->wr.next = NULL;
	int rc = post_requests(r, &r->bulk[0].wr);

	last->wr.next = next;
	if (rc)
		return verbs_note(&r->fault, rc, "post receive requests in one list, as many as", count);
	return 0;
}

int verbs_put_back(struct verbs *t)
{
	struct verbs_recv *r = &t->recv;
	struct verbs_request *request = &r->bulk[r->released];

	request->sge.addr = r->first + r->last * r->stride;
	request->sge.lkey = r->lkey[r->last];
	request->wr.wr_id = r->last;
	return ++r->released == r->bulk_size ? verbs_post_released(t) : 0;
}

/* --- messages to several receivers --- */

/* Copies of a message that was given up may still come. Those that are there are all taken, as who finds none may sleep
 * until another one comes. */
int verbs_take_copy(struct verbs *t, uint32_t *seq)
{
	struct verbs_recv *r = &t->recv;
	int rc;

	if (*seq > r->copy_of) {
		r->copy_of = *seq;
		r->copies = 0;
	}
	r->copies += *seq == r->copy_of;
	if (*seq == r->copy_of && r->copies == r->receivers)
		return 1;
	rc = verbs_release(t);
	return rc ? rc : verbs_poll_recv(t, seq);
}

/* --- a connection without a peer, whose set-up is measured --- */

static int connect_with_itself(struct verbs *t, struct ibv_qp *qp)
{
	const struct verbs_kind *rc_kind = &verbs_kinds[VERBS_RC];
	struct ibv_qp_attr a = {
	    .qp_state = IBV_QPS_INIT,
	    .port_num = t->port.number,
	    .qp_access_flags = IBV_ACCESS_LOCAL_WRITE,
	    .dest_qp_num = qp->qp_num,
	    .path_mtu = verbs_mtu(t->mtu_bytes),
	    .max_dest_rd_atomic = 1,
	    .max_rd_atomic = 1,
	    .timeout = t->retry.timeout,
	    .retry_cnt = t->retry.retry_cnt,
	    .rnr_retry = t->retry.rnr_retry,
	    .min_rnr_timer = t->retry.min_rnr_timer,
	    .ah_attr = {.dlid = t->port.lid, .sl = (uint8_t)t->settings.sl, .port_num = t->port.number},
	};
	int rc = ibv_modify_qp(qp, &a, rc_kind->init_mask);

	if (t->port.use_grh) {
		a.ah_attr.is_global = 1;
		a.ah_attr.grh = (struct ibv_global_route){
		    .dgid = t->port.gid, .sgid_index = (uint8_t)t->port.gid_index, .hop_limit = 1};
	}
	a.qp_state = IBV_QPS_RTR;
	if (!rc)
		rc = ibv_modify_qp(qp, &a, rc_kind->rtr_mask);
	a.qp_state = IBV_QPS_RTS;
	if (!rc)
		rc = ibv_modify_qp(qp, &a, rc_kind->rts_mask);
	return -abs(rc);
}

int verbs_set_up(struct verbs *t, void **handle)
{
	struct ibv_qp_init_attr attr = {
	    .qp_type = IBV_QPT_RC,
	    .send_cq = t->send_cq.cq,
	    .recv_cq = t->recv_cq.cq,
	    .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
	};
	struct ibv_qp *qp = ibv_create_qp(t->pd, &attr);
	const int rc = qp ? connect_with_itself(t, qp) : -errno;

	if (qp && rc)
		ibv_destroy_qp(qp);
	*handle = qp;
	return rc;
}

int verbs_tear_down(struct verbs *t, void *handle)
{
	(void)t;
	return -ibv_destroy_qp(handle);
}
