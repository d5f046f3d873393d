/*
 * Message buffers of one direction: their number and shape, their memory, and the memory regions in
 * which it is registered.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_RING_H
#define KBLAT_TRANSPORTS_VERBS_RING_H

#include "measure/transports/verbs_types.h"

/* Determine the shapes of both rings of this side. */
void verbs_ring_sizes(struct verbs *t);

/* The number and shape of the slots into which this side's peer writes; both sides compute the same. */
struct verbs_ring verbs_recv_ring(const struct verbs *t);

/* Allocate and register a ring if it has slots; on failure nothing is left behind. */
int verbs_ring_open(struct verbs *t, struct verbs_ring *r, struct err *e);
void verbs_ring_close(struct verbs_ring *r);

/* The key of a slot's memory region; 0: there is none. */
uint32_t verbs_ring_lkey(const struct verbs_ring *r, uint32_t slot);

#endif
