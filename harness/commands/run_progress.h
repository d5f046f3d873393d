/*
 * What `kblat run` prints to standard error while it measures: on a terminal one line that is
 * updated, otherwise a line for each point. Nothing goes to standard output.
 *
 * For one run at a time. Not thread-safe; run_progress_print() may be called by a signal handler,
 * because signals are blocked except while a run waits (channel_wait()).
 */
#ifndef KBLAT_COMMANDS_RUN_PROGRESS_H
#define KBLAT_COMMANDS_RUN_PROGRESS_H

#include "measure/run/run.h"

enum verbosity {
	VERBOSITY_QUIET,   /* errors only */
	VERBOSITY_NORMAL,  /* as described above */
	VERBOSITY_VERBOSE, /* a line for each point and repetition, also on a terminal */
};

/* `out`: as for --out. */
void run_progress_begin(const struct spec *spec, const char *out, enum verbosity verbosity);
void run_progress_end(void);

/* Callbacks for run_request: show, point_ended and warn. */
void run_progress_show(const struct progress *p);
void run_progress_point_ended(const struct progress *p, enum outcome outcome, const char *why);
void run_progress_warn(const char *text);

/* Print what is being measured, the elapsed time and the remaining time. */
void run_progress_print(void);

#endif
