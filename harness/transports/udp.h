/*
 * UDP datagrams between two connected sockets, one per message. Losses are counted: if the receive
 * buffer is too small for a burst, the rest of the burst is lost. Busy: repeated non-blocking
 * recv(2); event: epoll_wait(2), then recv(2).
 */
#ifndef KBLAT_TRANSPORTS_UDP_H
#define KBLAT_TRANSPORTS_UDP_H

#include "transports/sockets.h"

#define UDP_SIZE_MAX 65507 /* 2^16 - 1 minus the headers of IPv4 and UDP */

struct udp {
	SOCKET_TRANSPORT;
	bool acknowledges; /* datagrams that consist of a number alone are received, too */
};

extern const struct transport_ops udp_transport;

#endif
