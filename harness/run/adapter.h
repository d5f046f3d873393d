/*
 * Do both sides of a flow use one adapter? Then what is measured is its own switch, or a loop in it, and neither a link
 * nor a second adapter. That may be meant: it is told where nobody has named a device.
 */
#ifndef KBLAT_RUN_ADAPTER_H
#define KBLAT_RUN_ADAPTER_H

#include <jansson.h>

#include "point/flow.h"

/* The device that both have though the settings name none, and that is no software's; NULL: there is none. `granted`:
 * {"source": {"device", "driver"}, "sink"} of endpoints on one host. */
const char *adapter_shared_unasked(const struct flow *f, const json_t *granted);

#endif
