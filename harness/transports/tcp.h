/*
 * A TCP connection. The stream is cut into messages by their fixed size. Busy: recv(2) that does not block, again and
 * again; event: epoll_wait(2), then recv(2).
 */
#ifndef KBLAT_TRANSPORTS_TCP_H
#define KBLAT_TRANSPORTS_TCP_H

#include "transports/sockets.h"

struct tcp {
	SOCKET_TRANSPORT;
	size_t got; /* bytes of the next message that are there already */
};

extern const struct transport_ops tcp_transport;

#endif
