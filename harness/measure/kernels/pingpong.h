/*
 * Round trips: the source stamps, posts and waits for the answer; the sink posts an answer as soon
 * as it has seen a message. Only one message is in flight, so latencies do not contain queueing,
 * and one clock is sufficient: source and sink may be on different hosts.
 */
#ifndef KBLAT_KERNELS_PINGPONG_H
#define KBLAT_KERNELS_PINGPONG_H

#include "measure/kernels/kernel.h"

struct pingpong_settings {
	int64_t messages, size, duration, pause, lost_after, link_rate;
	int release; /* enum pingpong_release */
	bool turn, check;
	int64_t answer; /* 0: as large as a message */
};

/* When the buffer of a received message is released: after or before posting. */
enum pingpong_release { PINGPONG_RELEASE_AFTER, PINGPONG_RELEASE_BEFORE };

enum { PINGPONG_T_SUBM, PINGPONG_T_BACK, PINGPONG_T_TURN };
enum { PINGPONG_SOURCE, PINGPONG_SINK };

extern const struct kernel_ops pingpong_kernel;

#endif
