/*
 * Every transport, in the order in which they are listed. X(name): name_transport is its table, transports/name_hot.h
 * its hot path, <kernel>_loops_name what a kernel was compiled to for it (the Makefile's TRANSPORTS says the same).
 */
#ifndef KBLAT_TRANSPORTS_LIST_H
#define KBLAT_TRANSPORTS_LIST_H

#define EVERY_TRANSPORT(X) X(verbs) X(shmem) X(tcp) X(udp) X(zeromq) X(nanomsg) X(scripted)

#endif
