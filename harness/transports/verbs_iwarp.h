/*
 * iWARP: RDMA over TCP (RFC 5040, 5041, 5044), by adapters or by the kernel (Soft-iWARP, siw). It
 * has fewer features than InfiniBand, and only the connection manager can establish its
 * connections, which also changes the queue pair's states (verbs_cm.c).
 */
#ifndef KBLAT_TRANSPORTS_VERBS_IWARP_H
#define KBLAT_TRANSPORTS_VERBS_IWARP_H

#include <stdbool.h>

struct err;
struct verbs;

bool verbs_iwarp_is(const struct verbs *t);

/* 0, or STATUS_IMPOSSIBLE with everything that the settings ask for and such a device does not support. */
int verbs_iwarp_check(const struct verbs *t, struct err *e);

#endif
