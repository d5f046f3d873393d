/*
 * A file of samples while it is read, line by line: its numbers, units and bins, checked. What it says becomes samples; a
 * file that was cut off, and what cannot be a latency, is refused with its line.
 */
#ifndef KBLAT_IMPORT_READING_H
#define KBLAT_IMPORT_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct err;

/*
 * How finely a list of samples is known: the digits with which they are written, and the step of the clock behind them, which
 * may be coarser than its digits. One object for each file; not thread-safe.
 */
#define STEP_DECADES 20 /* of values, from 10^STEP_LEAST ns on */
#define STEP_LEAST   (-3)
#define STEP_SAMPLES 65536 /* of which the step of the clock is found: the first of a file */

struct step_decade {
	uint64_t samples;
	int place;	 /* of the last digit that any of them has, as a power of ten of ns */
	double least_ns; /* of the samples */
};

struct written_step {
	struct step_decade decade[STEP_DECADES];
	int64_t *sample; /* NULL: there are none yet */
	size_t samples;
	int zero_place; /* of samples that are 0, if there are no others */
};

/* A sample: `text` is a number that strtod() has read as a whole, in units of `unit_ns` (1, 1000, …), `ns` its value. -ENOMEM. */
int written_step_add(struct written_step *w, const char *text, int64_t unit_ns, double ns);

/*
 * What is known of the samples so far. `*digits_ns`: the step in which the finest of them are written, at least 1; `*clock_ns`:
 * that of the values themselves, if all are multiples of a step or apart by more; 0: not known. `*ppm`: the coarsest step that
 * is a part of the value, where digits are dropped from larger values ("%g"); 0: there is none.
 */
void written_step_find(struct written_step *w, int64_t *digits_ns, int64_t *clock_ns, int64_t *ppm);

/* The greatest. */
int64_t common_divisor(int64_t a, int64_t b);

void written_step_free(struct written_step *w);

#define SAMPLES_COLUMN "latency" /* in nanoseconds; NEVER: the message was lost */
#define SAMPLES_REPS   99	 /* at most */

/* Samples on their way into the columns of a run directory, written as they are read, so that a file of any size needs no
 * memory: the column of one repetition after the other, at points/0000/rep-<nn>. */
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

#define READING_NAME_MAX 128
#define READING_LOST_MAX 1000000   /* of a file: more are a sign of damage */
#define READING_MOST	 250000000 /* samples of a file's histograms: a summary takes 10 GB of memory for them */

#define READING_SKIPS 4 /* kinds of what is skipped in a file */

struct reading_skip {
	const char *what; /* "empty lines"; NULL: there are no more */
	uint64_t count;
};

/* A file while it is read, and what it says of itself. */
struct reading {
	const char *path;
	FILE *in;
	const char *column; /* of a CSV file, or what else there are several of; NULL: the only one */
	const char *unit;   /* "us"; NULL: as the file says */
	struct samples *to;
	uint64_t most;	   /* samples in bins, and lost ones; 0: READING_MOST and READING_LOST_MAX */
	bool may_lack_end; /* the last line may have no end; then lacks_end says that it has none */
	bool lacks_end;

	unsigned long line;		    /* number of the last line read, from 1 */
	unsigned long field_line, field_at; /* where an error is: line and byte, from 1; 0: at `line` */
	char *text;			    /* of the line; reading_free() */
	size_t room;			    /* of `text`, in bytes */
	struct reading_skip skip[READING_SKIPS];
	const char *series, *label; /* of the samples; NULL: lat_ns */
	int64_t resolution_ns;	    /* how finely the samples are known; a true value is at most that much larger */
	int64_t bin_ppm; /* or by that share of itself, if that is more: the widest bin of a histogram, or digits */
	struct written_step
	    step;	   /* of samples that are listed one by one, from which reading_resolve() takes the former */
	bool is_unordered; /* their order is not that of the messages */
	uint64_t lost, binned; /* samples in bins */
	/* what the file says of its run; otherwise empty or 0 */
	char name[READING_NAME_MAX], host[READING_NAME_MAX], boot[READING_NAME_MAX];
	int64_t started_ns, limit_ns, clock_hz;
};

/* -EINVAL, STATUS_USAGE and "FILE:LINE: cause 'what'", or "FILE:LINE:COLUMN: …"; `what` may be NULL. */
int reading_refuse(const struct reading *r, struct err *e, const char *cause, const char *what);

/* The next line, without its end: 1; 0 at the end of the file; or a negative errno. A mark of the order of bytes at the
 * beginning of the file is passed over. */
int reading_line(struct reading *r, struct err *e);

/* The next line is added to the last one, which has `length` bytes, after a line feed. */
int reading_more(struct reading *r, size_t length, struct err *e);

/* Count a line, or what else is not read; `what`: a literal in the plural. */
void reading_skip(struct reading *r, const char *what);

/* "3 empty lines, 2 comments"; NULL: nothing was skipped. The caller frees. */
char *reading_skipped(const struct reading *r);

void reading_free(struct reading *r);

/* The field at `*at`, up to a comma, without blanks and quotes around it; NULL: there is none. */
char *reading_field(char **at);

/* Nanoseconds of a unit ("ns", "us", "ms", "s"); 0: there is no such unit. */
int64_t reading_unit_ns(const char *unit);

/* Those of the unit that a column's name ends in: "lat_us", "latency (usec)"; 0: none. */
int64_t reading_unit_of(const char *name);

bool reading_count(const char *text, uint64_t *value);

/* A number as a latency: of a bin, or of a sample, which also tells how finely the samples are written. */
int reading_number(const struct reading *r, const char *text, int64_t unit_ns, double *ns, struct err *e);
int reading_latency(struct reading *r, const char *text, int64_t unit_ns, int64_t *ns, struct err *e);

/* All has been read: find how finely the samples are known. */
void reading_resolve(struct reading *r);

/* Into the current repetition: one sample; samples that were lost; a bin of a histogram with all values from `ns` on that
 * are less than `ns` + `width_ns`. */
int reading_take(struct reading *r, const char *text, int64_t unit_ns, struct err *e);
int reading_lost(struct reading *r, uint64_t count, struct err *e);
int reading_bin(struct reading *r, int64_t ns, int64_t width_ns, uint64_t count, struct err *e);

#endif
