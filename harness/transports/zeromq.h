/*
 * ZeroMQ (libzmq). Messages go through a thread of the library's own, which does the input and output and wants a CPU
 * beside those of source and sink. Busy: zmq_recv() that does not block, again and again; event: zmq_poll(), then
 * zmq_recv().
 */
#ifndef KBLAT_TRANSPORTS_ZEROMQ_H
#define KBLAT_TRANSPORTS_ZEROMQ_H

#include "transports/messaging.h"

struct zeromq {
	MESSAGING_TRANSPORT;
	void *context;
	void *out, *in; /* sockets; of a pair the same one */
};

extern const struct transport_ops zeromq_transport;

#endif
