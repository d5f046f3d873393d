/*
 * The settings of the transport uring, which it has even in a build without its library: for uring.c, or, there,
 * kernels/absent_transport.c.
 */
#ifndef KBLAT_TRANSPORTS_URING_SETTINGS_H
#define KBLAT_TRANSPORTS_URING_SETTINGS_H

#include "common/opt.h"
#include "measure/transports/sockets.h"

enum uring_over { URING_UDP, URING_TCP };

struct uring_settings {
	struct socket_settings socket; /* first, for sockets_open() */
	int over;		       /* enum uring_over */
	bool multishot, sqpoll, registered, zerocopy;
	int64_t napi;
};

static const char *const uring_overs[] = {[URING_UDP] = "udp", [URING_TCP] = "tcp", NULL};

static const struct opt uring_options[] = {
    {"over", OPT_ENUM, offsetof(struct uring_settings, over), "udp", 0, 0, uring_overs,
     "UDP datagrams, or a TCP connection"},
    {"multishot", OPT_BOOL, offsetof(struct uring_settings, multishot), "no", 0, 0, NULL,
     "one request receives all messages, into buffers that the kernel chooses (IORING_RECV_MULTISHOT)"},
    {"sqpoll", OPT_BOOL, offsetof(struct uring_settings, sqpoll), "no", 0, 0, NULL,
     "a thread of the kernel submits and completes requests (IORING_SETUP_SQPOLL); it needs a CPU to itself"},
    {"registered", OPT_BOOL, offsetof(struct uring_settings, registered), "no", 0, 0, NULL,
     "send from, and unless multishot receive into, buffers that are registered with the kernel"},
    {"zerocopy", OPT_BOOL, offsetof(struct uring_settings, zerocopy), "no", 0, 0, NULL,
     "send without copying, where the device can (IORING_OP_SEND_ZC); complete means that the buffer is free again"},
    {"napi", OPT_TIME, offsetof(struct uring_settings, napi), "0ns", 0, 1000000000, NULL,
     "while it waits, the kernel polls the device's queue for so long (IORING_REGISTER_NAPI, in whole us; Linux 6.9); "
     "0: not at all"},
    SOCKET_OPTIONS,
    {"nodelay", OPT_BOOL, SOCKET_FIELD(nodelay), "yes", 0, 0, NULL,
     "over tcp, send immediately instead of waiting for more data (TCP_NODELAY)"},
    {.name = NULL},
};

enum { uring_settings_bytes = sizeof(struct uring_settings) };

#endif
