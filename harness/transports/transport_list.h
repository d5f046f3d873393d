/*
 * Every transport, in the order in which they are listed: X(name) stands for name_transport, its
 * table, and transports/name_hot.h, its hot path, for which each kernel's loops are compiled
 * (<kernel>_loops_name). The Makefile reads this list, too. To add a transport, add its files and
 * its row here.
 */
#ifndef KBLAT_TRANSPORTS_TRANSPORT_LIST_H
#define KBLAT_TRANSPORTS_TRANSPORT_LIST_H

#define EVERY_TRANSPORT(X) X(verbs) X(shmem) X(tcp) X(udp) X(zeromq) X(nanomsg) X(scripted)

#endif
