/*
 * Completion queues with stamps of the device's own clock.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_STAMPS_H
#define KBLAT_TRANSPORTS_VERBS_STAMPS_H

#include "instrument/device_clock.h"
#include "transports/verbs.h"

/* A completion queue with stamps of the device's clock, into q->cq and q->stamped; q->channel stands. */
int verbs_stamped_cq(struct verbs *t, struct verbs_cq *q, uint32_t depth, struct err *e);

/* Does the device stamp completions? */
bool verbs_has_stamps(struct verbs *t);

/* As transport_ops.read_clock. */
int verbs_read_clock(struct transport *transport, struct device_clock_reading *now, uint64_t *mask, struct err *e);

#endif
