/*
 * Every transport, in the order in which they are listed: X(name) stands for name_transport, its table in
 * measure/transports/name.c. To add a transport, add its file and its row here.
 *
 * Where a post costs a call of a library or of the operating system's kernel, one instance of each kernel's loops calls
 * the functions of the table. Where calls would be seen in what is measured, a transport is inlined: it has a row below,
 * too, X(k, name), and its hot path is in measure/transports/name_hot.h, for which each kernel's loops are compiled.
 *
 * A library that a transport loads when it is opened has a row of its own: X(transport, file, Debian's package with it,
 * Fedora's). `kblat --version` and the check of debian/control (tests/lint-structure) read it. Its headers, without which
 * the transport is left out, are in common/features.
 */
#ifndef KBLAT_TRANSPORTS_TRANSPORT_LIST_H
#define KBLAT_TRANSPORTS_TRANSPORT_LIST_H

#define EVERY_TRANSPORT(X)                                                                                             \
	X(verbs) X(shmem) X(tcp) X(udp) X(uring) X(xdp) X(dpdk) X(zeromq) X(nanomsg) X(ucx) X(fabric) X(scripted)

#define EVERY_INLINED(X, k) X(k, verbs) X(k, shmem) INLINED_UCX(X, k) INLINED_FABRIC(X, k)

#ifdef WITHOUT_ucx
#define INLINED_UCX(X, k)
#else
#define INLINED_UCX(X, k) X(k, ucx)
#endif
#ifdef WITHOUT_fabric
#define INLINED_FABRIC(X, k)
#else
#define INLINED_FABRIC(X, k) X(k, fabric)
#endif

/* Who uses it includes common/dpdk_abi.h, which the build writes. */
#define EVERY_LOADED_LIBRARY(X)                                                                                        \
	X(zeromq, "libzmq.so.5", "libzmq5", "zeromq")                                                                  \
	X(nanomsg, "libnanomsg.so.5", "libnanomsg5", "nanomsg")                                                        \
	X(ucx, "libucp.so.0", "libucx0", "ucx")                                                                        \
	X(fabric, "libfabric.so.1", "libfabric1", "libfabric")                                                         \
	X(dpdk, "librte_ethdev.so." DPDK_ABI, "dpdk", "dpdk")

#endif
