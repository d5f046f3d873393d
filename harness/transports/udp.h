/*
 * UDP datagrams between two connected sockets, one a message. What is lost is counted: a receive buffer that is too
 * small for a burst loses the rest of it. Busy: recv(2) that does not block, again and again; event: epoll_wait(2), then
 * recv(2).
 */
#ifndef KBLAT_TRANSPORTS_UDP_H
#define KBLAT_TRANSPORTS_UDP_H

#include "transports/sockets.h"

#define UDP_SIZE_MAX 65507 /* 2^16 - 1 less the headers of IPv4 and UDP */

struct udp {
	SOCKET_TRANSPORT;
	bool acknowledges; /* datagrams that are a number alone come, too */
};

extern const struct transport_ops udp_transport;

#endif
