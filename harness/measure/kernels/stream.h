/*
 * Bandwidth and message rate: up to `depth` messages are in flight, each posted as soon as there is
 * room, in one direction or in both. A side stamps before it posts (t_subm) and when it has seen
 * the completion (t_comp), from which other programs compute rates, too; one-sided operations have
 * no other stamps. A block of messages may share an entry (t_subm of its first message, t_comp of
 * its last), as otherwise 10^9 messages would need 16 GB. The time from one entry's completion to
 * the next one's is a series, so a rate has a distribution. With depth 1 it measures the latency of
 * a completion.
 */
#ifndef KBLAT_KERNELS_STREAM_H
#define KBLAT_KERNELS_STREAM_H

#include "measure/kernels/kernel.h"

struct stream_settings {
	int64_t messages, size, batch, stamp_every, duration, link_rate;
	bool both, check;
};

enum { STREAM_T_SUBM, STREAM_T_COMP, STREAM_T_SUBM_BACK, STREAM_T_COMP_BACK };
enum { STREAM_SOURCE, STREAM_SINK };

extern const struct kernel_ops stream_kernel;

#endif
