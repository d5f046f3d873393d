/*
 * Samples at a fixed rate, as sent by a node of a real-time simulator. A pacer determines when; a
 * sample has the number of its step. Four times are recorded for every step: when it was due
 * (t_due), when the pacer reached it and its sample was made (t_gen), when the sample was posted
 * (t_subm), after any wait for room in the queue, and when it arrived (t_recv). So there are three
 * latencies: from t_subm without that wait, from t_gen with it, and from t_due, which also includes
 * the pacer's delay. The last one is free of what Gil Tene calls coordinated omission, except for
 * steps that are missed.
 *
 * A step is *missed* if another one was due at the same time and was sent instead, which is the
 * last of them or the first (`late`); timerfd and VILLASnode's timer skip steps in the same way. It
 * is *unsent* if the queue was full and `full: skip` forbids waiting, or if the time (`window`) was
 * up. Otherwise it is posted, and arrives or is lost. A missed or unsent step has t_due, but none
 * of the other times.
 *
 * The pacer can be given a wrong tick frequency on purpose (tick_error). This affects the steps,
 * but never the stamps.
 */
#ifndef KBLAT_KERNELS_RATE_H
#define KBLAT_KERNELS_RATE_H

#include "measure/instrument/pacer.h"
#include "measure/kernels/kernel.h"

struct rate_settings {
	int64_t rate, messages, values, window, tick_error, missed_limit;
	int pacer;	 /* enum pacer */
	int full;	 /* enum rate_full */
	int late;	 /* enum rate_late */
	int sink;	 /* enum rate_sink */
	int source_file; /* enum rate_source_file */
	char sink_dir[OPT_STR_MAX];
	bool check, sink_keep;
};

enum rate_full { RATE_WAIT, RATE_SKIP };
enum rate_late { RATE_LATE_LAST, RATE_LATE_FIRST };
enum rate_sink { RATE_SINK_NONE, RATE_SINK_FILE };
enum rate_source_file { RATE_SOURCE_FILE_NONE, RATE_SOURCE_FILE_CSV };
enum { RATE_T_DUE, RATE_T_GEN, RATE_T_SUBM, RATE_T_RECV };
enum { RATE_SOURCE, RATE_SINK };

extern const struct kernel_ops rate_kernel;

#endif
