/*
 * One-way latency, as in the thesis' adapter benchmark: the source stamps right before it posts
 * (t_subm) and when it polls the send completion (t_comp), the sink when it polls the receive
 * completion (t_recv). Messages are sent in bursts; after a burst the source waits for its
 * completions and then pauses. With t_send, a third thread on the source keeps writing the time to
 * the single payload buffer that all messages share; the value that arrives at the sink is the time
 * at which the device read it. With t_hw, the device's own stamps of both completions are recorded,
 * too. With stages, the operating system's kernel stamps each message on its way.
 */
#ifndef KBLAT_KERNELS_ONEWAY_H
#define KBLAT_KERNELS_ONEWAY_H

#include "measure/kernels/kernel.h"

struct oneway_settings {
	int64_t messages, size, burst, pause, gap;
	bool check, t_send, t_hw, stages;
};

enum {
	ONEWAY_T_SUBM,
	ONEWAY_T_COMP,
	ONEWAY_T_RECV,
	ONEWAY_T_SEND,
	ONEWAY_T_HW,
	ONEWAY_T_HW_COMP,
	ONEWAY_T_SCHED,
	ONEWAY_T_SENT,
	ONEWAY_T_DRIVER,
	ONEWAY_T_SOCKET
};
enum { ONEWAY_COMPLETIONS, ONEWAY_RESTAMP, ONEWAY_SOURCE, ONEWAY_SINK };

extern const struct kernel_ops oneway_kernel;

#endif
