#include "transports/verbs_return.h"

#include <errno.h>
#include <stdlib.h>

#include "common/err.h"
#include "transports/verbs.h"

/*
 * How many receive requests are posted again together: those of a burst, so that none of its messages waits for that; of
 * half of them, where a burst has more. Of round trips all: nothing but the one message is on its way, and to take the
 * queue's running empty for a reason to fill it is what is to be measured.
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

int verbs_return_open(struct verbs *t, struct err *e)
{
	struct verbs_recv *r = &t->recv;

	if (t->settings.returns != VERBS_RETURN_BULK || !t->recv_ring.depth)
		return 0;
	r->bulk_size = bulk_size(t);
	r->bulk = calloc(r->bulk_size, sizeof(*r->bulk));
	if (!r->bulk)
		return err_sys(e, -ENOMEM, t->object, "allocate receive requests");
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
	t->recv.bulk = NULL;
}
