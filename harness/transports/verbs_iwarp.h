/*
 * iWARP: RDMA over TCP (RFC 5040, 5041, 5044), by adapters or by the kernel (Soft-iWARP, siw). It has less than InfiniBand,
 * and its connections are made by the connection manager alone, which also brings the queue pair up (verbs_cm.c).
 */
#ifndef KBLAT_TRANSPORTS_VERBS_IWARP_H
#define KBLAT_TRANSPORTS_VERBS_IWARP_H

#include <stdbool.h>

struct err;
struct verbs;

bool verbs_iwarp_is(const struct verbs *t);

/* 0, or STATUS_IMPOSSIBLE and all that the settings ask for and such a device lacks. */
int verbs_iwarp_check(const struct verbs *t, struct err *e);

#endif
