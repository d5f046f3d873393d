/*
 * Round trips with stamps on both sides: the source stamps and posts, the sink stamps when it sees
 * the message and right before it answers, and the source stamps the answer. If both sides have the
 * same clock, this gives the latency of each direction; if they have two, the offset between them
 * (measure/run/clock_link.h). One message is in flight, and both sides poll busily.
 */
#ifndef KBLAT_KERNELS_EXCHANGE_H
#define KBLAT_KERNELS_EXCHANGE_H

#include "measure/kernels/kernel.h"

struct exchange_settings {
	int64_t messages, size, pause, lost_after;
};

enum { EXCHANGE_T_SUBM, EXCHANGE_T_RECV, EXCHANGE_T_ANSWER, EXCHANGE_T_BACK };
enum { EXCHANGE_SOURCE, EXCHANGE_SINK };

extern const struct kernel_ops exchange_kernel;

#endif
