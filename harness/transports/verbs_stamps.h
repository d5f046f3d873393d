/*
 * Completion queues with stamps from the device's own clock.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_STAMPS_H
#define KBLAT_TRANSPORTS_VERBS_STAMPS_H

#include "instrument/device_clock.h"
#include "transports/verbs.h"

/* Create a completion queue with stamps from the device's clock, and store it in q->cq and
 * q->stamped; q->channel must exist. */
int verbs_stamped_cq(struct verbs *t, struct verbs_cq *q, uint32_t depth, struct err *e);

/* Does the device stamp completions? */
bool verbs_has_stamps(struct verbs *t);

/* See transport_ops.read_clock. */
int verbs_read_clock(struct transport *transport, struct device_clock_reading *now, uint64_t *mask, struct err *e);

#endif
