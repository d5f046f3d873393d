#include "transports/verbs_qp.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "common/err.h"

int verbs_impossible(const struct verbs *t, struct err *e, const char *setting, int64_t value, const char *limit,
		     int64_t most)
{
	return err_set(e, -ERANGE, STATUS_IMPOSSIBLE, t->object, NULL,
		       "%s %" PRId64 " is above what the device can do: %s is %" PRId64, setting, value, limit, most);
}

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

	return rc ? err_sys(e, -abs(rc), t->object, state_name(a->qp_state)) : 0;
}

void verbs_fill_retry(const struct verbs *t, struct ibv_qp_attr *a)
{
	a->timeout = t->retry.timeout;
	a->retry_cnt = t->retry.retry_cnt;
	a->rnr_retry = t->retry.rnr_retry;
	a->min_rnr_timer = t->retry.min_rnr_timer;
}

int verbs_aim(struct verbs *t, struct ibv_ah_attr *attr, uint32_t qp_num, uint32_t qkey, struct err *e)
{
	t->ah = ibv_create_ah(t->pd, attr);
	if (!t->ah)
		return err_sys(e, -errno, t->object, "create an address handle for the peer");
	t->send.remote_first = (uintptr_t)t->ah;
	t->send.wr.wr.ud.remote_qpn = qp_num;
	t->send.wr.wr.ud.remote_qkey = qkey;
	return 0;
}
