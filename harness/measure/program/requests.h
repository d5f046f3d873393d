/*
 * The requests of another program: each from the stamp at which it began to that at which it ended. Stamps come from
 * memory that the program writes (kblat_stamp.h), from probes (probes.h), or from a file.
 */
#ifndef KBLAT_PROGRAM_REQUESTS_H
#define KBLAT_PROGRAM_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/instrument/clock.h"

struct err;

struct request_stamp {
	int64_t time; /* in ns since the run's t0 */
	uint64_t id;  /* 0: none */
	int32_t tid;
	bool is_end;
	/* Of probes. */
	bool
	    is_again; /* the next one of this frame, which is a begin or an end as this one, only repeats the one before */
	bool is_inner;	/* a begin within its request: neither it nor its end is one */
	bool is_joint;	/* an end at which others pass, too */
	uint64_t task;	/* who serves it: the thread, or what runs on threads (goroutines) */
	uint64_t frame; /* of a task: the call of a function, while it lasts; 0: not known */
};

#define REQUEST_STAMPS_MOST (4u << 20) /* 300 MB, until they are matched */

struct request_stamps {
	struct request_stamp *list;
	size_t count;
	uint64_t left; /* those beyond the limit */
};

void request_stamps_add(struct request_stamps *s, const struct request_stamp *stamp);

struct program_request {
	int64_t from, to;
	int64_t tid; /* of the thread that ended it */
	uint64_t id;
};

struct program_requests {
	struct program_request *list; /* in the order of their beginnings */
	size_t count;
	size_t open;	/* began, and did not end */
	size_t strange; /* ended, and had not begun */
};

/* What an end has in common with its begin. */
enum request_match {
	MATCH_ID,     /* the ID, in any thread; without one, the thread */
	MATCH_THREAD, /* IDs only tell what a request was */
	MATCH_FRAME,  /* it is of the same call of a function */
};

/*
 * Sorts the stamps by time, and matches them: an end belongs to the last open begin with which it has that in common, so
 * that requests may be nested. A frame that begins once more was left meanwhile, by an exception or the like: that request
 * never ended, and is counted as open. Free with free(list).
 */
struct program_requests requests_match(struct request_stamps *s, enum request_match how);

/* --- memory that a program writes --- */

struct stamp_memory;

/* `*fd`: what the program has to inherit; it belongs to the memory. 0 or a negative errno. */
int stamp_memory_open(struct stamp_memory **out, int *fd, struct err *e);

/* Take what was written since the last time. Must be called every few milliseconds. */
void stamp_memory_take(struct stamp_memory *m, const struct clock_conversion *c, struct request_stamps *to);

/* Stamps that were lost, as there was no room; threads that were too many. */
uint64_t stamp_memory_lost(const struct stamp_memory *m);
unsigned stamp_memory_threads_lost(const struct stamp_memory *m);
void stamp_memory_close(struct stamp_memory *m);

/* --- a file --- */

/*
 * Requests that another program wrote down, one in a line: begin, end, the thread's number, and an ID if there is one,
 * apart by blanks; lines with # are comments. Times are of CLOCK_MONOTONIC in ns, or of the tick counter after the line
 * "# ticks"; `at` are two moments of both clocks, between which it measured. STATUS_USAGE and the line for what is no such file.
 */
int requests_read(const char *path, const struct clock_conversion *c, const struct clock_point at[2],
		  struct program_requests *out, struct err *e);

#endif
