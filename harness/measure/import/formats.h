/*
 * The formats in which other programs write their samples, and a reader for each. Files are read line by line, and what
 * they say is checked: a file of another format, one that was cut off, and samples that cannot be latencies are refused.
 */
#ifndef KBLAT_IMPORT_FORMATS_H
#define KBLAT_IMPORT_FORMATS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "measure/import/samples.h"

struct err;

#define FORMAT_LINE_MAX 4096 /* bytes */
#define FORMAT_NAME_MAX 128
#define FORMAT_LOST_MAX 1000000 /* of a file: more are a sign of damage */

/* A file while it is read, and what it says of itself. */
struct reading {
	const char *path;
	FILE *in;
	const char *column; /* of a CSV file; NULL: its only one */
	const char *unit;   /* "us"; NULL: as the file says */
	struct samples *to;

	unsigned long line; /* number of the last line read, from 1 */
	char text[FORMAT_LINE_MAX];
	int64_t resolution_ns; /* how finely the samples are written; a true value is at most that much larger */
	bool is_unordered;     /* their order is not that of the messages */
	uint64_t lost;
	/* from the comments of a CSV file that kblat has exported; otherwise empty or 0 */
	char name[FORMAT_NAME_MAX], host[FORMAT_NAME_MAX], boot[FORMAT_NAME_MAX];
	int64_t started_ns, limit_ns, clock_hz;
};

struct import_format {
	const char *name;
	const char *help; /* what makes such files */
	bool takes_column;
	int (*read)(struct reading *r, struct err *e);
};

extern const struct import_format import_formats[]; /* up to one without a name */

const struct import_format *format_find(const char *name);

/* Reads the whole of `r->in` into `r->to`, which it ends. 0, or a negative errno and `e`: STATUS_USAGE and
 * "FILE:LINE: cause" for what is wrong with the file. */
int format_read(const struct import_format *f, struct reading *r, struct err *e);

/* Nanoseconds of a unit ("ns", "us", "ms", "s"); 0: there is no such unit. */
int64_t format_unit_ns(const char *unit);

#endif
