/*
 * Which events of the operating system's kernel are kept, and as which kinds: one table (trace_events.c). Events that a
 * kernel does not have are left out.
 */
#ifndef KBLAT_TRACE_EVENTS_H
#define KBLAT_TRACE_EVENTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <tracefs.h>

#include "common/trace_kinds.h"
#include "measure/trace/trace_names.h"

/* Events as they are kept: TRACE_WORDS numbers each. */
struct trace_words {
	int64_t *data;
	size_t count, room; /* in events */
	size_t most;	    /* 0: no limit; later events are counted in `left` */
	size_t left;
};

/* Add one; 0 or -ENOMEM. */
int trace_words_add(struct trace_words *w, const int64_t event[TRACE_WORDS]);
void trace_words_free(struct trace_words *w);

/* Who reads: its own threads are not other tasks. */
struct trace_reader {
	const pid_t *own;
	size_t own_count;
	struct trace_names *names;
	struct trace_words *to;
};

/* The systems that the table's events are of; NULL ends. */
extern const char *const trace_event_systems[];

/* Enable all events that exist, in an instance that is switched off; system calls only if asked
 * for. Returns their number. */
unsigned trace_events_enable(struct tracefs_instance *instance, bool calls);

#define TRACE_FOLLOWED_MAX 16 /* threads */

/* From now on, record page faults and system calls of these threads only; if there are more than
 * TRACE_FOLLOWED_MAX, of every task with this program's name, as before. */
void trace_events_follow(struct tracefs_instance *instance, const pid_t *own, size_t count);

/* Store an event. `time` is the record's, already converted. 0 or -ENOMEM. */
int trace_events_keep(struct trace_reader *r, const struct tep_event *event, struct tep_record *record, int cpu,
		      int64_t time);

#endif
