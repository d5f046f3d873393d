/*
 * The hot path of verbs; what each function promises is in transport.h. A post is three stores and ibv_post_send(); a
 * poll asks for one completion, because each one gets a stamp of its own.
 *
 * Waiting: the first call arms the completion queue and returns at once, so that the caller polls once more; only the
 * next call sleeps. A completion that came before the arming is found by that poll, one that came later left an event
 * in the channel. Arming thus happens when there is nothing to do, never between the wake-up and the message it was
 * for.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_HOT_H
#define KBLAT_TRANSPORTS_VERBS_HOT_H

#include <arpa/inet.h>
#include <errno.h>

#include "instrument/clock.h"
#include "transports/verbs.h"

/* Cold: note what went wrong, the first time. verbs_note() returns a negative errno. */
int verbs_note(struct verbs_fault *f, int rc, const char *operation, uint64_t wr_id);
void verbs_note_completion(struct verbs_fault *f, int polled, const struct ibv_wc *wc);

#define verbs_unlikely(x) __builtin_expect(!!(x), 0)

static inline int64_t verbs_begin(struct verbs *t)
{
	(void)t;
	return clock_ticks_begin();
}

static inline int64_t verbs_end(struct verbs *t)
{
	(void)t;
	return clock_ticks_end();
}

static inline int64_t verbs_pause(struct verbs *t, int64_t until)
{
	(void)t;
	(void)until;
	cpu_relax();
	return clock_ticks_begin();
}

static inline void *verbs_send_buffer(struct verbs *t, uint32_t seq)
{
	return (void *)(uintptr_t)(t->send.first + (seq & t->send.mask) * t->send.stride);
}

static inline int verbs_post(struct verbs *t, uint32_t seq)
{
	struct verbs_send *s = &t->send;
	struct ibv_send_wr *bad;

	s->sge.addr = s->first + (seq & s->mask) * s->stride;
	s->wr.wr_id = seq;
	s->wr.imm_data = htonl(seq);
	int rc = ibv_post_send(s->qp, &s->wr, &bad);

	if (verbs_unlikely(rc))
		return verbs_note(&s->fault, rc, "post the send of message", seq);
	s->posted++;
	return 0;
}

static inline int verbs_poll_send(struct verbs *t, uint32_t *seq)
{
	struct ibv_wc wc;
	int n = ibv_poll_cq(t->send_cq.cq, 1, &wc);

	if (n == 0)
		return 0;
	if (verbs_unlikely(n < 0 || wc.status != IBV_WC_SUCCESS)) {
		verbs_note_completion(&t->send_cq.fault, n, &wc);
		return -EIO;
	}
	t->send_cq.polled++;
	*seq = (uint32_t)wc.wr_id;
	return 1;
}

static inline int verbs_poll_recv(struct verbs *t, uint32_t *seq)
{
	struct ibv_wc wc;
	int n = ibv_poll_cq(t->recv_cq.cq, 1, &wc);

	if (n == 0)
		return 0;
	if (verbs_unlikely(n < 0 || wc.status != IBV_WC_SUCCESS)) {
		verbs_note_completion(&t->recv_cq.fault, n, &wc);
		return -EIO;
	}
	t->recv_cq.polled++;
	t->recv.last = (uint32_t)wc.wr_id;
	t->recv.held = true;
	*seq = ntohl(wc.imm_data);
	return 1;
}

static inline const void *verbs_recv_buffer(struct verbs *t)
{
	return (const void *)(uintptr_t)(t->recv.first + t->recv.last * t->recv.stride + t->recv.payload);
}

/* Post the receive of one buffer. */
static inline int verbs_post_recv(struct verbs *t, uint32_t buffer)
{
	struct verbs_recv *r = &t->recv;
	struct ibv_recv_wr *bad;

	r->sge.addr = r->first + buffer * r->stride;
	r->wr.wr_id = buffer;
	int rc = ibv_post_recv(r->qp, &r->wr, &bad);

	if (verbs_unlikely(rc))
		return verbs_note(&r->fault, rc, "post the receive of buffer", buffer);
	return 0;
}

static inline int verbs_release(struct verbs *t)
{
	t->recv.held = false;
	return verbs_post_recv(t, t->recv.last);
}

static inline int verbs_wait(struct verbs_cq *q)
{
	struct ibv_cq *cq;
	void *context;
	int rc;

	if (!q->armed) {
		rc = ibv_req_notify_cq(q->cq, 0);
		if (verbs_unlikely(rc))
			return verbs_note(&q->fault, rc, "arm the completion queue after completion", q->polled);
		q->armed = true;
		return 0;
	}
	if (ibv_get_cq_event(q->channel, &cq, &context))
		return errno == EINTR ? -EINTR
				      : verbs_note(&q->fault, errno, "wait for an event after completion", q->polled);
	q->armed = false;
	q->events++;
	return 0;
}

static inline int verbs_wait_send(struct verbs *t)
{
	return verbs_wait(&t->send_cq);
}

static inline int verbs_wait_recv(struct verbs *t)
{
	return verbs_wait(&t->recv_cq);
}

/* The device raises events by itself. */
static inline void verbs_kick_send(struct verbs *t)
{
	(void)t;
}

static inline void verbs_kick_recv(struct verbs *t)
{
	(void)t;
}

#endif
