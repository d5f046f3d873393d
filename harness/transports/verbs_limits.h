/*
 * Compares the limits of a device with what is asked for.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_LIMITS_H
#define KBLAT_TRANSPORTS_VERBS_LIMITS_H

struct err;
struct verbs;

/* The port must have been chosen. STATUS_IMPOSSIBLE, with the setting and the limit, if the device
 * does not support it; otherwise fills in what depends on the device: t->recv_depth, t->rd_atomic,
 * t->mtu_bytes. */
int verbs_limits_check(struct verbs *t, struct err *e);

#endif
