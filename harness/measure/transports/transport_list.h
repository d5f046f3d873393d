/*
 * Every transport, in the order in which they are listed: X(name) stands for name_transport, its
 * table, and measure/transports/name_hot.h, its hot path, for which each kernel's loops are compiled
 * (<kernel>_loops_name). The Makefile reads this list, too. To add a transport, add its files and
 * its row here.
 *
 * A library that a transport loads when it is opened has a row of its own: X(transport, file, Debian's package with it,
 * Fedora's). `kblat --version` and the check of debian/control (tests/lint-structure) read it. Its headers, without which
 * the transport is left out, are in common/features.
 */
#ifndef KBLAT_TRANSPORTS_TRANSPORT_LIST_H
#define KBLAT_TRANSPORTS_TRANSPORT_LIST_H

#define EVERY_TRANSPORT(X)                                                                                             \
	X(verbs) X(shmem) X(tcp) X(udp) X(uring) X(xdp) X(zeromq) X(nanomsg) X(ucx) X(fabric) X(scripted)

#define EVERY_LOADED_LIBRARY(X)                                                                                        \
	X(zeromq, "libzmq.so.5", "libzmq5", "zeromq")                                                                  \
	X(nanomsg, "libnanomsg.so.5", "libnanomsg5", "nanomsg")                                                        \
	X(ucx, "libucp.so.0", "libucx0", "ucx")                                                                        \
	X(fabric, "libfabric.so.1", "libfabric1", "libfabric")

#endif
