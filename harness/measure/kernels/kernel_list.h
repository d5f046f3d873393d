/*
 * Every kernel, in the order in which they are listed: X(name) stands for name_kernel, its table in
 * measure/kernels/name.c. To add a kernel, add its files, its row here, and its loops.
 */
#ifndef KBLAT_KERNELS_KERNEL_LIST_H
#define KBLAT_KERNELS_KERNEL_LIST_H

#include "measure/transports/transport_list.h"

#define EVERY_KERNEL(X) X(oneway) X(pingpong) X(rate) X(stream) X(register) X(handoff) X(exchange) X(backup)

/*
 * The loops: X(kernel, transport) stands for kernel_loops_transport, measure/kernels/kernel_loop.c compiled for this
 * transport; or for all that are called. The Makefile reads this list, too.
 */
#define EVERY_LOOP(X)                                                                                                  \
	LOOPS_OVER_ALL(X, oneway)                                                                                      \
	LOOPS_OVER_ALL(X, pingpong)                                                                                    \
	LOOPS_OVER_ALL(X, rate)                                                                                        \
	LOOPS_OVER_ALL(X, stream)                                                                                      \
	X(register, verbs)                                                                                             \
	X(register, shmem)                                                                                             \
	X(handoff, verbs)                                                                                              \
	X(handoff, shmem)                                                                                              \
	X(handoff, called)                                                                                             \
	LOOPS_OVER_ALL(X, exchange)                                                                                    \
	LOOPS_OVER_ALL(X, backup)
#define LOOPS_OVER_ALL(X, k) EVERY_INLINED(X, k) X(k, called)

/*
 * Loops that also exist in a form that logs gaps, long times between two polls (explain). Their polls only read
 * memory, so a long time between two polls is not spent on work.
 */
#define EVERY_GAP_LOOP(X) X(oneway, verbs_gaps) X(oneway, shmem_gaps) X(pingpong, verbs_gaps) X(pingpong, shmem_gaps)

#endif
