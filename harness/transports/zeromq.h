/*
 * ZeroMQ (libzmq). Messages go through a thread of the library, which does the input and output and
 * needs a CPU in addition to those of source and sink. Busy: repeated non-blocking zmq_recv();
 * event: zmq_poll(), then zmq_recv().
 */
#ifndef KBLAT_TRANSPORTS_ZEROMQ_H
#define KBLAT_TRANSPORTS_ZEROMQ_H

#include <zmq.h>

#include "transports/loaded_library.h"
#include "transports/messaging.h"

#define ZMQ_FUNCTIONS(X)                                                                                               \
	X(zmq, ctx_new)                                                                                                \
	X(zmq, ctx_term)                                                                                               \
	X(zmq, socket)                                                                                                 \
	X(zmq, close)                                                                                                  \
	X(zmq, setsockopt)                                                                                             \
	X(zmq, getsockopt)                                                                                             \
	X(zmq, bind)                                                                                                   \
	X(zmq, unbind)                                                                                                 \
	X(zmq, connect)                                                                                                \
	X(zmq, send)                                                                                                   \
	X(zmq, recv)                                                                                                   \
	X(zmq, poll)                                                                                                   \
	X(zmq, socket_monitor)                                                                                         \
	X(zmq, strerror)                                                                                               \
	X(zmq, version)

extern struct zmq_functions {
	ZMQ_FUNCTIONS(LOADED_FIELD)
} zmq;

struct zeromq {
	MESSAGING_TRANSPORT;
	void *context;
	void *out, *in;	  /* sockets; the same one for a pair */
	void *zap;	  /* where it asks who may connect (zeromq_zap.h); NULL: nowhere */
	void *monitor[2]; /* where the library reports connections that end; NULL: nowhere */
	int64_t ended;	  /* such reports so far */
};

extern const struct transport_ops zeromq_transport;

#endif
