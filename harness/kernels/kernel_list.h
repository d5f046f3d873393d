/*
 * Every kernel, in the order in which they are listed: X(name) stands for name_kernel, its table in
 * kernels/name.c, and kernels/name_loop.c. The Makefile reads this list, too. To add a kernel, add
 * its files and its row here.
 */
#ifndef KBLAT_KERNELS_KERNEL_LIST_H
#define KBLAT_KERNELS_KERNEL_LIST_H

#define EVERY_KERNEL(X) X(oneway) X(pingpong) X(rate) X(stream) X(register) X(handoff) X(exchange)

#endif
