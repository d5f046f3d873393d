/*
 * The settings of the transport nanomsg, which it has even in a build without its library: for nanomsg.c, or, there,
 * kernels/absent_transport.c.
 */
#ifndef KBLAT_TRANSPORTS_NANOMSG_SETTINGS_H
#define KBLAT_TRANSPORTS_NANOMSG_SETTINGS_H

#include "common/opt.h"
#include "measure/transports/messaging.h"

static const struct opt nanomsg_options[] = {
    MESSAGING_OPTIONS,
    {"nodelay", OPT_BOOL, MESSAGING_FIELD(nodelay), "yes", 0, 0, NULL,
     "send immediately instead of waiting for more data (NN_TCP_NODELAY; the library's default is no)"},
    {"sndbuf", OPT_BYTES, MESSAGING_FIELD(sndbuf), "128KiB", 1, 1 << 30, NULL,
     "bytes that the library queues for sending (NN_SNDBUF)"},
    {"rcvbuf", OPT_BYTES, MESSAGING_FIELD(rcvbuf), "128KiB", 1, 1 << 30, NULL,
     "bytes that it queues for receiving (NN_RCVBUF)"},
    {.name = NULL},
};

enum { nanomsg_settings_bytes = sizeof(struct messaging_settings) };

#endif
