/*
 * The shared receive queue (`recv_queue: srq`): receive requests that wait there instead of in the queue pair.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_SRQ_H
#define KBLAT_TRANSPORTS_VERBS_SRQ_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct verbs;

/* Completions that the receive queue's completion queue must have room for, beside those of messages. */
uint32_t verbs_srq_completions(const struct verbs *t);

/* The protection domain, the receive ring and both completion queues are there. Nothing, where the settings ask for none;
 * on failure nothing is left. */
int verbs_srq_open(struct verbs *t, struct err *e);
void verbs_srq_close(struct verbs *t);

/* Have the device tell (IBV_EVENT_SRQ_LIMIT_REACHED) when the queue is empty, once. */
int verbs_srq_arm(struct verbs *t, struct err *e);

/* From any thread: whoever waits for a message sees a completion that is not a good one. */
void verbs_srq_alarm(struct verbs *t);

#endif
