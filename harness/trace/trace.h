/*
 * What the kernel does while a repetition is measured, into a trace instance of our own: its buffers are nobody else's,
 * and it is removed when it is closed. Events carry the tick counter that stamps are made of (trace clock x86-tsc); where
 * there is none, CLOCK_MONOTONIC_RAW, which is read beside the counter before and after.
 *
 * Nothing is read while events are written. A buffer that is full keeps what it has, and counts what it does not take:
 * until when everything is known of a CPU is then said.
 */
#ifndef KBLAT_TRACE_H
#define KBLAT_TRACE_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/cpulist.h"
#include "instrument/clock.h"
#include "trace/trace_events.h"

struct err;
struct trace;

/* Make an instance for these CPUs, with so many bytes for each, and enable the events (`calls`: and kblat's own system
 * calls); it is off. STATUS_IMPOSSIBLE and the reason where the machine or the user's rights do not allow it. */
int trace_open(struct trace **out, const struct cpulist *cpus, uint64_t bytes, bool calls, struct err *e);

/* Forget what there is, and begin. */
int trace_start(struct trace *t, struct err *e);
int trace_stop(struct trace *t, struct err *e);

/*
 * What was kept since trace_start(), in order of time, in ns of `c`. `own`: the threads that are not to be other tasks.
 * `about`: {"clock", "cpus", "kinds", "events", "lost": {"<cpu>": n}, "known_until_ns": {"<cpu>": t}},
 * a new object. Free `to`, and the names (of trace_names_init()), in either case; to resolve these is the caller's.
 */
int trace_read(struct trace *t, const pid_t *own, size_t own_count, const struct clock_conversion *c,
	       struct trace_names *names, struct trace_words *to, json_t **about, struct err *e);

/* Remove the instance. NULL is none. */
void trace_close(struct trace *t);

#endif
