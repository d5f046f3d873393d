/*
 * Records what the operating system's kernel does while a repetition is measured. It uses its own trace instance, whose
 * buffers nobody else uses, and which is removed when it is closed. Events are stamped with the same tick counter as
 * messages (trace clock x86-tsc) or, if that is not available, with CLOCK_MONOTONIC_RAW, which is compared with the
 * counter before and after.
 *
 * Nothing is read while events are recorded. A full buffer keeps its content and counts the events that it drops; the
 * result then says up to which time the events of each CPU are complete.
 */
#ifndef KBLAT_TRACE_H
#define KBLAT_TRACE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/cpulist.h"
#include "measure/instrument/clock.h"
#include "measure/instrument/gap_log.h"
#include "measure/trace/trace_events.h"

struct err;
struct trace;

/* All CPUs that threads may run on now. 0 or a negative errno. */
int trace_online_cpus(struct cpulist *out);

/* Create an instance for these CPUs, with a buffer of `bytes` for each, and enable the events of the set; recording is
 * off. STATUS_IMPOSSIBLE and the reason if the machine or the user's rights do not allow it. */
int trace_open(struct trace **out, const struct cpulist *cpus, uint64_t bytes, enum trace_set set, struct err *e);

/* Discard what was recorded, and begin recording. */
int trace_start(struct trace *t, struct err *e);

/* Record page faults and system calls of these threads only, instead of all threads with this
 * program's name. Takes some milliseconds, so it must not be called while measuring. */
void trace_follow(struct trace *t, const pid_t *own, size_t own_count);
int trace_stop(struct trace *t, struct err *e);

/*
 * What was kept since trace_start(), in order of time, in ns of `c`. `own`: the threads that are not to be other tasks.
 * `about`: {"clock", "cpus", "kinds", "events", "lost": {"<cpu>": n}, "known_until_ns": {"<cpu>": t}},
 * a new object. Free `to`, and the names (of trace_names_init()), in either case; to resolve these is the caller's.
 */
int trace_read(struct trace *t, const pid_t *own, size_t own_count, const struct clock_conversion *c,
	       struct trace_names *names, struct trace_words *to, json_t **about, struct err *e);

/* Of a set of a program's events: record those of these threads, and of all that they start, alone. With the events of
 * the system `probes`, which must exist; NULL: there are none. Before trace_start(). */
int trace_follow_program(struct trace *t, const pid_t *threads, size_t count, const char *probes, struct err *e);

/* trace_read() of both instances for a program, merged in order of time; hits of probes go to p->take(). */
int trace_read_program(struct trace *machine, struct trace *calls, struct trace_program *p,
		       const struct clock_conversion *c, struct trace_names *names, struct trace_words *to,
		       json_t **about, struct err *e);

/* Remove the instance, unless it is NULL. */
void trace_close(struct trace *t);

/* Inserts the gaps that a loop saw between two of its polls (measure/instrument/gap_log.h) among the events.
 * Adds to `to`, in order of time: the events of this CPU (`others`: and of all others), and the gaps of the loop on it,
 * in ns of `c`. 0 or -ENOMEM. */
int trace_gaps_merge(const struct trace_words *events, bool others, const struct gap_log *w, int cpu,
		     const struct clock_conversion *c, struct trace_words *to);

#endif
