/*
 * The samples of another program, on their way into the columns of a run directory. They are written as they are read, so
 * that a file of any size needs no memory.
 */
#ifndef KBLAT_IMPORT_SAMPLES_H
#define KBLAT_IMPORT_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct err;

#define SAMPLES_COLUMN "latency" /* in nanoseconds; NEVER: the message was lost */
#define SAMPLES_REPS   99	 /* at most */

/* The column of one repetition after the other, at points/0000/rep-<nn>. */
struct samples {
	const char *run_path; /* borrowed */
	unsigned reps;	      /* begun so far */
	uint64_t entries;     /* of the current one */
	FILE *out;	      /* its column, or NULL */
};

/* Ends the current repetition, if there is one, and begins the next. */
int samples_begin(struct samples *s, struct err *e);

/* Add `count` samples of `ns` (or NEVER) to the current repetition. */
int samples_add(struct samples *s, int64_t ns, uint64_t count, struct err *e);

/* Ends the last repetition. -EINVAL and STATUS_USAGE if a repetition, or all of them, has no sample. */
int samples_end(struct samples *s, struct err *e);

/* Release it, whether it was ended or not. */
void samples_close(struct samples *s);

#endif
