/*
 * Events of the kernel as they are kept with a repetition: the kinds are those of common/trace_kinds.def. An event is
 * TRACE_WORDS numbers in a row.
 */
#ifndef KBLAT_COMMON_TRACE_KINDS_H
#define KBLAT_COMMON_TRACE_KINDS_H

enum trace_kind {
#define X(id, key, help) TRACE_##id,
#include "common/trace_kinds.def"
#undef X
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

#endif
