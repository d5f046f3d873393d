/*
 * A TCP connection. The stream is divided into messages by their fixed size. Busy: repeated
 * non-blocking recv(2); event: epoll_wait(2), then recv(2).
 */
#ifndef KBLAT_TRANSPORTS_TCP_H
#define KBLAT_TRANSPORTS_TCP_H

#include "transports/sockets.h"

struct tcp {
	SOCKET_TRANSPORT;
	size_t got; /* bytes of the next message received so far */
};

extern const struct transport_ops tcp_transport;

#endif
