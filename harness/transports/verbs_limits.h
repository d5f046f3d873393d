/*
 * What a device can do, against what is asked for.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_LIMITS_H
#define KBLAT_TRANSPORTS_VERBS_LIMITS_H

struct err;
struct verbs;

/* The port is chosen. STATUS_IMPOSSIBLE, with the setting and the limit, where the device cannot do it; else what is left
 * to the device is filled in: t->recv_depth, t->rd_atomic, t->mtu_bytes. */
int verbs_limits_check(struct verbs *t, struct err *e);

#endif
