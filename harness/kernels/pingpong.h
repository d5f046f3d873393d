/*
 * Round trips: the source stamps, posts and waits for the answer; the sink posts an answer as soon as it has seen a message. Nothing is in flight beside
 * the one message, so no latency contains queueing, and one clock suffices: source and sink may be on different hosts.
 */
#ifndef KBLAT_KERNELS_PINGPONG_H
#define KBLAT_KERNELS_PINGPONG_H

#include "kernels/kernel.h"

struct pingpong_settings {
	int64_t messages, size, duration, pause, lost_after, link_rate;
	bool check;
};

enum { PINGPONG_T_SUBM, PINGPONG_T_BACK };
enum { PINGPONG_SOURCE, PINGPONG_SINK };

extern const struct kernel_ops pingpong_kernel;

#endif
