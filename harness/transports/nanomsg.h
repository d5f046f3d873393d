/*
 * nanomsg (libnanomsg). Messages go through a thread of the library's own, which does the input and output and wants a
 * CPU beside those of source and sink. Busy: nn_recv() that does not block, again and again; event: nn_poll(), then
 * nn_recv().
 */
#ifndef KBLAT_TRANSPORTS_NANOMSG_H
#define KBLAT_TRANSPORTS_NANOMSG_H

#include "transports/messaging.h"

struct nanomsg {
	MESSAGING_TRANSPORT;
	int out, in; /* sockets, -1: none; of a pair the same one */
};

extern const struct transport_ops nanomsg_transport;

#endif
