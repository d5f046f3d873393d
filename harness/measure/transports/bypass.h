/*
 * Sockets under a library that takes them past the kernel (LD_PRELOAD of VMA, XLIO, Onload, …). Such libraries fall
 * back to the kernel in silence, so with `bypass: expected` the kernel's own counters of the interface are recorded,
 * which must not move with the messages (judge/analysis/validity.c). Control path.
 */
#ifndef KBLAT_TRANSPORTS_BYPASS_H
#define KBLAT_TRANSPORTS_BYPASS_H

#include <jansson.h>

#include "measure/transports/interface.h"

/* The interface over which the kernel would carry messages to `peer`: loopback, if that is an address of this host. */
struct interface bypass_carrier(const struct interface *own, const struct sockaddr *peer);

/* {"carrier": "eth0", "message_bytes": 64, "libraries": ["libvma.so"]}: the libraries that are preloaded and there. */
json_t *bypass_describe(const struct interface *carrier, size_t message_bytes);

#endif
