/*
 * Round trips with stamps at both sides: the source stamps and posts, the sink stamps what it sees and right before it
 * answers, the source stamps the answer. So each way's latency is known where both have one clock; and where they have
 * two, how far these are apart (instrument/clock_pair.h). One message is in flight, and both sides poll busily.
 */
#ifndef KBLAT_KERNELS_EXCHANGE_H
#define KBLAT_KERNELS_EXCHANGE_H

#include "kernels/kernel.h"

struct exchange_settings {
	int64_t messages, size, pause, lost_after;
};

enum { EXCHANGE_T_SUBM, EXCHANGE_T_RECV, EXCHANGE_T_ANSWER, EXCHANGE_T_BACK };
enum { EXCHANGE_SOURCE, EXCHANGE_SINK };

extern const struct kernel_ops exchange_kernel;

#endif
