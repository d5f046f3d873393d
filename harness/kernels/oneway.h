/*
 * One-way latency, as in the thesis' adapter benchmark: the source stamps right before it posts (t_subm) and when it
 * polls the send completion (t_comp), the sink when it polls the receive completion (t_recv). Messages go in bursts;
 * after a burst the source waits for its completions and then pauses.
 */
#ifndef KBLAT_KERNELS_ONEWAY_H
#define KBLAT_KERNELS_ONEWAY_H

#include "kernels/kernel.h"

struct oneway_settings {
	int64_t messages, size, burst, pause;
	bool check;
};

enum { ONEWAY_T_SUBM, ONEWAY_T_COMP, ONEWAY_T_RECV };

extern const struct kernel_ops oneway_kernel;

#endif
