/*
 * The counters of an RDMA port.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_COUNTERS_H
#define KBLAT_TRANSPORTS_VERBS_COUNTERS_H

#include <jansson.h>

struct sysroot;

/*
 * The current values of all counters in ports/P/counters and ports/P/hw_counters of a device, by
 * file name. This waits until the kernel's cached values expire, which takes about 15 ms. Also
 * "rnr_naks", independent of the driver's name for it: how often the other side had no receive
 * request for a message of this side. New reference; {} if there are no counters.
 */
json_t *verbs_counters(const char *device, unsigned port);

/* The same below another root directory. */
json_t *verbs_counters_below(const struct sysroot *r, const char *device, unsigned port);

#endif
