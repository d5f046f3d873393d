/*
 * Message buffers of one direction: how many of what shape, their memory, the regions that it is registered in.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_RING_H
#define KBLAT_TRANSPORTS_VERBS_RING_H

#include "transports/verbs.h"

/* The shapes of both of this side's rings. */
void verbs_ring_sizes(struct verbs *t);

/* How many slots of what shape this side's peer finds here: the same at both sides. */
struct verbs_ring verbs_recv_ring(const struct verbs *t);

/* Allocate and register a ring, where it has slots; on failure nothing is left. */
int verbs_ring_open(struct verbs *t, struct verbs_ring *r, struct err *e);
void verbs_ring_close(struct verbs_ring *r);

/* The key of a slot's memory region; 0: there is none. */
uint32_t verbs_ring_lkey(const struct verbs_ring *r, uint32_t slot);

#endif
