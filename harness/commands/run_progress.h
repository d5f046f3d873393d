/*
 * What `kblat run` says on standard error while it measures: on a terminal one line that changes, elsewhere a line for each
 * point. Standard output is left alone.
 *
 * One run at a time. Not thread-safe; run_progress_print() may be called by a signal's handler, as signals are let in only
 * where a run waits (channel_wait()).
 */
#ifndef KBLAT_COMMANDS_RUN_PROGRESS_H
#define KBLAT_COMMANDS_RUN_PROGRESS_H

#include "run/run.h"

enum verbosity {
	VERBOSITY_QUIET,   /* what went wrong, only */
	VERBOSITY_NORMAL,  /* as above */
	VERBOSITY_VERBOSE, /* a line for each point and repetition, wherever it goes */
};

/* `out`: as of --out. */
void run_progress_begin(const struct spec *spec, const char *out, enum verbosity verbosity);
void run_progress_end(void);

/* run_request.show, point_ended and warn. */
void run_progress_show(const struct progress *p);
void run_progress_point_ended(const struct progress *p, enum outcome outcome, const char *why);
void run_progress_warn(const char *text);

/* Where it is, how long it has run and how long it will. */
void run_progress_print(void);

#endif
