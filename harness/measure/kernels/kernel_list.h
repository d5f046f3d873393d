/*
 * Every kernel, in the order in which they are listed: X(name) stands for name_kernel, its table in
 * measure/kernels/name.c, and measure/kernels/name_loop.c. The Makefile reads this list, too. To add a kernel, add
 * its files and its row here.
 */
#ifndef KBLAT_KERNELS_KERNEL_LIST_H
#define KBLAT_KERNELS_KERNEL_LIST_H

#define EVERY_KERNEL(X) X(oneway) X(pingpong) X(rate) X(stream) X(register) X(handoff) X(exchange) X(backup)

/*
 * The kernels and transports whose loops also exist as witnesses, which record long times between two polls (explain).
 * Their polls only read memory, so a long time between two polls is not spent on work. The Makefile reads both lists,
 * too.
 */
#define WITNESS_KERNELS(X, t) X(oneway, t) X(pingpong, t)
#define WITNESS_TRANSPORTS(X) X(verbs) X(shmem)

#endif
