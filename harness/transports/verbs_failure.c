/*
 * Errors on the hot path: recorded where they occur, reported afterwards.
 */
#include "transports/verbs_failure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/err.h"
#include "transports/verbs_hot.h"
#include "transports/verbs_watch.h"

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
static const struct {
	enum ibv_wc_status status;
	const char *hint;
} hints[] = {
    {IBV_WC_LOC_LEN_ERR, "the message is longer than the buffer or the path allows"},
    {IBV_WC_LOC_QP_OP_ERR, "the device could not carry it out; is its port still up?"},
    {IBV_WC_LOC_PROT_ERR, "the buffer lies outside of its memory region"},
    {IBV_WC_WR_FLUSH_ERR,
     "the queue pair was already in the error state; look for an earlier failure, or one on the other side"},
    {IBV_WC_REM_INV_REQ_ERR, "the receiver's buffer is too small, or the operation is not allowed there"},
    {IBV_WC_REM_ACCESS_ERR, "the receiver's memory region does not allow it"},
    {IBV_WC_RETRY_EXC_ERR, "the other side did not answer: it has ended, or the path to it is broken"},
    {IBV_WC_RNR_RETRY_EXC_ERR, "the other side had no receive buffer posted; more depth or a faster receiver helps"},
    {IBV_WC_FATAL_ERR, "the device has failed or is gone; see the kernel's log"},
};

static const char *hint_for(enum ibv_wc_status status)
{
	for (size_t i = 0; i < COUNT(hints); i++)
		if (hints[i].status == status)
			return hints[i].hint;
	return "see ibv_poll_cq(3)";
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
	snprintf(object, sizeof(object), "%s: work completion %" PRIu64 " (%s queue of qp 0x%x)", t->object, f->wr_id,
		 queue, t->qp->qp_num);
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
