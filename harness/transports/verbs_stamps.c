/*
 * Completion queues whose completions carry stamps from the device (ibv_create_cq_ex(3)), and the
 * device's clock (ibv_query_rt_values_ex(3)). Which moment is stamped depends on the device:
 * ConnectX stamps when it writes the completion.
 */
#include "transports/verbs_stamps.h"

#include <errno.h>
#include <stdlib.h>

#include "common/err.h"
#include "instrument/device_clock.h"
#include "transports/verbs.h"

static int query_mask(struct verbs *t, uint64_t *mask)
{
	struct ibv_device_attr_ex attr;

	if (ibv_query_device_ex(t->context, NULL, &attr) || !attr.completion_timestamp_mask)
		return -EOPNOTSUPP;
	*mask = attr.completion_timestamp_mask;
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

bool verbs_has_stamps(struct verbs *t)
{
	struct ibv_cq_ex *cq;
	uint64_t mask, now;

	if (query_mask(t, &mask) || read_raw(t, &now))
		return false;
	cq = create(t, NULL, 1);
	return cq && !ibv_destroy_cq(ibv_cq_ex_to_cq(cq));
}

int verbs_stamped_cq(struct verbs *t, struct verbs_cq *q, uint32_t depth, struct err *e)
{
	uint64_t now;

	if (query_mask(t, &t->clock_mask))
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

int verbs_read_clock(struct transport *transport, struct device_clock_reading *now, uint64_t *mask, struct err *e)
{
	struct verbs *t = (struct verbs *)transport;
	int rc = device_clock_read(read_raw, t, now);

	*mask = t->clock_mask;
	return rc ? err_sys(e, rc, t->object, "read the device's clock") : 0;
}
