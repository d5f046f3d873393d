/*
 * The shared receive queue (`recv_queue: srq`), which holds receive requests instead of the queue
 * pair.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_SRQ_H
#define KBLAT_TRANSPORTS_VERBS_SRQ_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct verbs;

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
