#include "transports/verbs_list.h"

#include <errno.h>
#include <stdlib.h>

#include "common/err.h"
#include "transports/verbs.h"

int verbs_list_open(struct verbs *t, struct err *e)
{
	struct verbs_send *s = &t->send;

	if (!t->config.batch || !t->send_ring.slots)
		return 0;
	s->list = calloc((size_t)t->config.batch, sizeof(*s->list));
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
