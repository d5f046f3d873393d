#include "transports/verbs_return.h"

#include <errno.h>
#include <stdlib.h>

#include "common/err.h"
#include "transports/verbs.h"
#include "transports/verbs_failure.h"
#include "transports/verbs_ring.h"

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
	r->bulk = calloc(r->bulk_size, sizeof(*r->bulk));
	r->lkey = calloc(t->recv_ring.slots, sizeof(*r->lkey));
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
