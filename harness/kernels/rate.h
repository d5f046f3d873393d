/*
 * Samples at a fixed rate, as a real-time simulator's node sends them: a pacer says when, a sample is numbered by its step. Four times are kept of
 * every step: when it was due (t_due), when the pacer came to it and its sample was made (t_gen), when that was posted (t_subm), which is after the wait
 * for a full queue, and when it arrived (t_recv). So there are three latencies: from t_subm without that wait, from t_gen with it, and from t_due with
 * how late the pacer was, too (what Gil Tene calls free of coordinated omission, but for steps that are missed).
 *
 * What becomes of a step: *missed*, if another was due at the same time and was sent, the last of them or the first (`late`): it is left out, as a
 * timerfd's or VILLASnode's timer leaves it out. *Unsent*, if the queue was full and `full: skip` says not to wait, or the time (`window`) was up. Else it
 * is posted; then it arrives, or is lost. A missed or unsent step has its t_due and none of the others.
 *
 * The pacer's own wrong idea of the tick frequency can be asked for (tick_error). It moves the steps, never the stamps.
 */
#ifndef KBLAT_KERNELS_RATE_H
#define KBLAT_KERNELS_RATE_H

#include "instrument/pacer.h"
#include "kernels/kernel.h"

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
