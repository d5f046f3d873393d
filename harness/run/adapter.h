/*
 * Do both sides of a flow use the same adapter? Then its internal switch or loopback is measured, but neither a link
 * nor a second adapter. This may be intended, so there is a warning only if no device was named.
 */
#ifndef KBLAT_RUN_ADAPTER_H
#define KBLAT_RUN_ADAPTER_H

#include <jansson.h>

#include "point/flow.h"

/* The device that both sides use although the settings do not name it, unless it is a software device; NULL: there is
 * none. `granted`: {"source": {"device", "driver"}, "sink"} of endpoints on one host. */
const char *adapter_shared_unasked(const struct flow *f, const json_t *granted);

#endif
