/*
 * Every transport, in the order in which they are listed: X(name) stands for name_transport, its
 * table, and measure/transports/name_hot.h, its hot path, for which each kernel's loops are compiled
 * (<kernel>_loops_name). The Makefile reads this list, too. To add a transport, add its files and
 * its row here.
 *
 * A library that a transport loads when it is opened has a row of its own: X(transport, file, Debian's
 * package with it, a header, Debian's package with that). `kblat --version`, common/deps and the check
 * of debian/control (tests/lint-structure) read it.
 */
#ifndef KBLAT_TRANSPORTS_TRANSPORT_LIST_H
#define KBLAT_TRANSPORTS_TRANSPORT_LIST_H

#define EVERY_TRANSPORT(X)                                                                                             \
	X(verbs) X(shmem) X(tcp) X(udp) X(uring) X(xdp) X(zeromq) X(nanomsg) X(ucx) X(fabric) X(scripted)

#define EVERY_LOADED_LIBRARY(X)                                                                                        \
	X(zeromq, "libzmq.so.5", "libzmq5", "zmq.h", "libzmq3-dev")                                                    \
	X(nanomsg, "libnanomsg.so.5", "libnanomsg5", "nanomsg/nn.h", "libnanomsg-dev")                                 \
	X(ucx, "libucp.so.0", "libucx0", "ucp/api/ucp.h", "libucx-dev")                                                \
	X(fabric, "libfabric.so.1", "libfabric1", "rdma/fabric.h", "libfabric-dev")

#endif
