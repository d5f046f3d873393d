/*
 * What an open endpoint has of its device: buffers, completion queues, the queue pair.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_RESOURCES_H
#define KBLAT_TRANSPORTS_VERBS_RESOURCES_H

#include "transports/verbs.h"

/* Make all that t->settings and t->config ask for, t->context first; on failure nothing is left. */
int verbs_resources_open(struct verbs *t, struct err *e);
void verbs_resources_close(struct verbs *t);

/* Give the events of a completion queue back: destroying it waits for that. */
void verbs_cq_acknowledge(struct verbs_cq *q);

#endif
