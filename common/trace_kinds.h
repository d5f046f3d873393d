/*
 * Events of the operating system's kernel, as they are stored with a repetition; common/lateness.def lists the
 * kinds. Each event consists of TRACE_WORDS consecutive numbers.
 */
#ifndef KBLAT_COMMON_TRACE_KINDS_H
#define KBLAT_COMMON_TRACE_KINDS_H

enum trace_kind {
#define KIND(id, ...) TRACE_##id,
#include "common/lateness.def"
	TRACE_KINDS
};

/* An event in trace-<side>.npy. */
enum trace_word {
	TRACE_TIME, /* in ns since the run's t0 */
	TRACE_CPU,
	TRACE_KIND, /* enum trace_kind */
	TRACE_NAME, /* in the "names" of trace-<side>.json; -1: none */
	TRACE_VALUE,
	TRACE_WORDS
};

#define TRACE_EVENTS_MOST (8 << 20) /* of one side and repetition */

#endif
