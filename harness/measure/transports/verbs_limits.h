/*
 * What a device can do, compared with what is asked for: its limits, what iWARP lacks, and what an
 * attempt was short of.
 *
 * iWARP is RDMA over TCP (RFC 5040, 5041, 5044), by adapters or by the kernel (Soft-iWARP, siw). It
 * has fewer features than InfiniBand, and only the connection manager can establish its
 * connections, which also changes the queue pair's states (verbs_cm.c).
 */
#ifndef KBLAT_TRANSPORTS_VERBS_LIMITS_H
#define KBLAT_TRANSPORTS_VERBS_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct verbs;

/* The port must have been chosen. STATUS_IMPOSSIBLE, with the setting and the limit, if the device
 * does not support it; otherwise fills in what depends on the device: t->recv_depth, t->rd_atomic,
 * t->mtu_bytes. */
int verbs_limits_check(struct verbs *t, struct err *e);

bool verbs_iwarp_is(const struct verbs *t);

/* Reports "SETTING VALUE is above what the device can do: LIMIT is MOST". */
int verbs_impossible(const struct verbs *t, struct err *e, const char *setting, int64_t value, const char *limit,
		     int64_t most);

/* `operation` failed with the negative errno `rc`: fills in `e` with the reason, as far as it can
 * be determined, and returns a negative errno. */
int verbs_shortage(const struct verbs *t, int rc, const char *operation, struct err *e);

/* Is there enough memory for the rings? 0 or -ENOMEM. */
int verbs_shortage_of_memory(const struct verbs *t, struct err *e);

#endif
