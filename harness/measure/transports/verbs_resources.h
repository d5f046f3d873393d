/*
 * The resources of an open endpoint: buffers, completion queues, the queue pair.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_RESOURCES_H
#define KBLAT_TRANSPORTS_VERBS_RESOURCES_H

#include "measure/instrument/device_clock.h"
#include "measure/transports/verbs_types.h"

/* Create everything that t->settings and t->config ask for, beginning with t->context; on failure
 * nothing is left behind. */
int verbs_resources_open(struct verbs *t, struct err *e);
void verbs_resources_close(struct verbs *t);

/* Acknowledge the events of a completion queue, because destroying it waits for that. */
void verbs_cq_acknowledge(struct verbs_cq *q);

/* Change the queue pair's state to that in `a`. */
int verbs_modify_qp(struct verbs *t, struct ibv_qp_attr *a, int mask, struct err *e);

/* Fill in the retries of a reliable connection. */
void verbs_fill_retry(const struct verbs *t, struct ibv_qp_attr *a);

/* ud, posting side: set the destination of all messages. Creates an address handle from `attr`. */
int verbs_aim(struct verbs *t, struct ibv_ah_attr *attr, uint32_t qp_num, uint32_t qkey, struct err *e);

/* See transport_ops.read_clock. */
int verbs_read_clock(struct transport *transport, struct device_clock_reading *now, struct device_counter *counter,
		     struct err *e);

/*
 * verbs_srq.c: the shared receive queue (`recv_queue: srq`), which holds receive requests instead of
 * the queue pair.
 */

/* The number of completions for which the receive completion queue must have room, in addition to
 * those of messages. */
uint32_t verbs_srq_completions(const struct verbs *t);

/* The protection domain, the receive ring and both completion queues must exist. Does nothing if
 * the settings do not ask for a shared queue; on failure nothing is left behind. */
int verbs_srq_open(struct verbs *t, struct err *e);
void verbs_srq_close(struct verbs *t);

/* Have the device report once when the queue is empty (IBV_EVENT_SRQ_LIMIT_REACHED). */
int verbs_srq_arm(struct verbs *t, struct err *e);

/* From any thread: a thread that waits for a message receives a completion with an error. */
void verbs_srq_alarm(struct verbs *t);

#endif
