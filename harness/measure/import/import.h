/*
 * The samples of another program as a run directory: one point, with one series `lat_ns`, of which everything that judges and
 * shows runs can be asked. What kblat did not observe (counters, placement, clock) is not made up; the point has a warning.
 */
#ifndef KBLAT_IMPORT_H
#define KBLAT_IMPORT_H

#include <stdint.h>

#include "files/rundir/writer.h"
#include "measure/import/reading.h"

struct err;
struct import_format;

struct import_request {
	const struct import_format *format;
	const char *out; /* the folder for run directories */
	/* NULL: as the file says; otherwise the format's name, "unknown", "unknown" */
	const char *name, *host, *boot;
	const char *column, *unit; /* as in struct reading */
	int64_t limit_ns;	   /* 0: as the file says, otherwise 10 us */
	int argc;		   /* of the command line, without the program's name */
	char *const *argv;
	/* What was run for it, as it is recorded; NULL: nothing was, there is only a file. */
	const char *const *command;
	const char *environment;       /* in which it was run; NULL: the machine as it is */
	void (*say)(const char *text); /* told what was skipped in a file; NULL: nobody is */
};

/* One run directory while it is made. */
struct import {
	const struct import_request *request;
	const char *source; /* the file, or what has written it */
	const char *shown;  /* its name in messages; NULL: that of the file */
	struct reading reading;
	struct samples samples;
	struct rundir dir;
	char started_utc[32];
};

/* Begin the directory. Whatever follows, import_free(). */
int import_create(struct import *i, const struct import_request *request, struct err *e);

/* Read a file into it. */
int import_take(struct import *i, const char *file, struct err *e);

/* "completed", or "failed" or "interrupted" and why: then there are no samples. Seals the directory; its path is `*path`,
 * which the caller frees. */
int import_seal(struct import *i, const char *outcome, const char *why, char **path, struct err *e);

/* Without having been sealed, the directory is removed. */
void import_free(struct import *i);

/* Import a file, and seal the run directory; its path is `*path`, which the caller frees. On failure, nothing is left. */
int import_file(const struct import_request *request, const char *file, char **path, struct err *e);

#endif
