/*
 * The settings of the transport zeromq, which it has even in a build without its library: for zeromq.c, or, there,
 * kernels/absent_transport.c.
 */
#ifndef KBLAT_TRANSPORTS_ZEROMQ_SETTINGS_H
#define KBLAT_TRANSPORTS_ZEROMQ_SETTINGS_H

#include "common/opt.h"
#include "measure/transports/messaging.h"

static const struct opt zeromq_options[] = {
    MESSAGING_OPTIONS,
    {"hwm", OPT_INT, MESSAGING_FIELD(hwm), "1000", 0, INT32_MAX, NULL,
     "messages that the library queues on each side (ZMQ_SNDHWM, ZMQ_RCVHWM); 0: unlimited"},
    {.name = NULL},
};

enum { zeromq_settings_bytes = sizeof(struct messaging_settings) };

#endif
