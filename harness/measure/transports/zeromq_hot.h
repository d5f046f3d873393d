/*
 * ZeroMQ (libzmq). Messages go through a thread of the library, which does the input and output and
 * needs a CPU in addition to those of source and sink. Busy: repeated non-blocking zmq_recv();
 * event: zmq_poll(), then zmq_recv().
 */
#ifndef KBLAT_TRANSPORTS_ZEROMQ_HOT_H
#define KBLAT_TRANSPORTS_ZEROMQ_HOT_H

#include <zmq.h>

#include "measure/transports/loaded_library.h"
#include "measure/transports/messaging_hot.h"

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
	void *zap;	  /* where it asks who may connect; NULL: nowhere */
	void *monitor[2]; /* where the library reports connections that end; NULL: nowhere */
	int64_t ended;	  /* such reports so far */
};

extern const struct transport_ops zeromq_transport;

/* --- the hot path (transport.h) --- */

MESSAGING_HOT(zeromq, zmq, ZMQ_DONTWAIT, zmq_pollitem_t item = {.socket = t->in, .events = ZMQ_POLLIN})

#endif
