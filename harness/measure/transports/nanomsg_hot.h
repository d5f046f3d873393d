/*
 * nanomsg (libnanomsg). Messages go through a thread of the library, which does the input and
 * output and needs a CPU in addition to those of source and sink. Busy: repeated non-blocking
 * nn_recv(); event: nn_poll(), then nn_recv().
 */
#ifndef KBLAT_TRANSPORTS_NANOMSG_HOT_H
#define KBLAT_TRANSPORTS_NANOMSG_HOT_H

#include <nanomsg/nn.h>

#include "measure/transports/loaded_library.h"
#include "measure/transports/messaging_hot.h"

#define NN_FUNCTIONS(X)                                                                                                \
	X(nn, socket)                                                                                                  \
	X(nn, close)                                                                                                   \
	X(nn, setsockopt)                                                                                              \
	X(nn, getsockopt)                                                                                              \
	X(nn, bind)                                                                                                    \
	X(nn, connect)                                                                                                 \
	X(nn, send)                                                                                                    \
	X(nn, recv)                                                                                                    \
	X(nn, poll)                                                                                                    \
	X(nn, strerror)                                                                                                \
	X(nn, get_statistic)

extern struct nn_functions {
	NN_FUNCTIONS(LOADED_FIELD)
} nn;

struct nanomsg {
	MESSAGING_TRANSPORT;
	int out, in; /* sockets, -1: none; the same one for a pair */
};

extern const struct transport_ops nanomsg_transport;

/* --- the hot path (transport.h) --- */

MESSAGING_HOT(nanomsg, nn, NN_DONTWAIT, struct nn_pollfd item = {.fd = t->in, .events = NN_POLLIN})

#endif
