/*
 * Round trips: the source stamps, posts and waits for the answer; the sink posts an answer as soon
 * as it has seen a message. Only one message is in flight, so latencies do not contain queueing,
 * and one clock is sufficient: source and sink may be on different hosts.
 *
 * With `work`, a thread computes on the sink's CPU while messages come, and afterwards alone: how much
 * of its speed does the way of waiting for messages leave to a program?
 */
#ifndef KBLAT_KERNELS_PINGPONG_H
#define KBLAT_KERNELS_PINGPONG_H

#include "measure/kernels/backup.h"

struct pingpong_settings {
	int64_t messages, size, duration, pause, lost_after, link_rate;
	int release; /* enum pingpong_release */
	bool turn, check, work;
	int64_t answer; /* 0: as large as a message */
	int64_t serve, backups;
};

/* When the buffer of a received message is released: after or before posting. */
enum pingpong_release { PINGPONG_RELEASE_AFTER, PINGPONG_RELEASE_BEFORE };

enum { PINGPONG_T_SUBM, PINGPONG_T_BACK, PINGPONG_T_TURN };
enum { PINGPONG_SOURCE, PINGPONG_SINK, PINGPONG_WORK };

/* With `work`: the sink's loop has ended. With `backups`: where the sink meets them. */
struct pingpong_side {
	_Alignas(64) atomic_bool has_ended;
	struct shared_counters_view view;
};

/* The loop of the computation; the same over every transport. */
kernel_loop pingpong_compute;

extern const struct kernel_ops pingpong_kernel;

#endif
