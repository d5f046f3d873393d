/*
 * The kernels and transports whose loops also exist as witnesses, which record long times between
 * two polls (explain). Their polls only read memory, so a long time between two polls is not spent
 * on work. The Makefile reads both lists, too.
 */
#ifndef KBLAT_KERNELS_WITNESS_LIST_H
#define KBLAT_KERNELS_WITNESS_LIST_H

#include "kernels/kernel.h"

#define WITNESS_KERNELS(X, t) X(oneway, t) X(pingpong, t)
#define WITNESS_TRANSPORTS(X) X(verbs) X(shmem)

/* The loops of a kernel over a transport that record gaps in worker->witness, or NULL if there are none. */
const struct kernel_loops *witness_loops_find(const char *kernel, const char *transport);

#endif
