/*
 * What an RDMA port counts.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_COUNTERS_H
#define KBLAT_TRANSPORTS_VERBS_COUNTERS_H

#include <jansson.h>

struct sysroot;

/*
 * All numbers below ports/P/counters and ports/P/hw_counters of a device, by file name, as of now: the kernel's cache is
 * waited out, which takes about 15 ms. And "rnr_naks", whatever the driver calls it: how often the other side had no
 * receive request for a message of ours. New reference; {} where there are none.
 */
json_t *verbs_counters(const char *device, unsigned port);

/* The same below another root. */
json_t *verbs_counters_below(const struct sysroot *r, const char *device, unsigned port);

#endif
