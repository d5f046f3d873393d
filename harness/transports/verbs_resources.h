/*
 * The resources of an open endpoint: buffers, completion queues, the queue pair.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_RESOURCES_H
#define KBLAT_TRANSPORTS_VERBS_RESOURCES_H

#include "transports/verbs.h"

/* Create everything that t->settings and t->config ask for, beginning with t->context; on failure
 * nothing is left behind. */
int verbs_resources_open(struct verbs *t, struct err *e);
void verbs_resources_close(struct verbs *t);

/* Acknowledge the events of a completion queue, because destroying it waits for that. */
void verbs_cq_acknowledge(struct verbs_cq *q);

#endif
