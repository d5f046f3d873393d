/*
 * The queue pair: its states, and what all ways of set-up need.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_QP_H
#define KBLAT_TRANSPORTS_VERBS_QP_H

#include "transports/verbs.h"

/* Reports "SETTING VALUE is above what the device can do: LIMIT is MOST". */
int verbs_impossible(const struct verbs *t, struct err *e, const char *setting, int64_t value, const char *limit,
		     int64_t most);

/* Change the queue pair's state to that in `a`. */
int verbs_modify_qp(struct verbs *t, struct ibv_qp_attr *a, int mask, struct err *e);

/* Fill in the retries of a reliable connection. */
void verbs_fill_retry(const struct verbs *t, struct ibv_qp_attr *a);

/* ud, posting side: set the destination of all messages. Creates an address handle from `attr`. */
int verbs_aim(struct verbs *t, struct ibv_ah_attr *attr, uint32_t qp_num, uint32_t qkey, struct err *e);

#endif
