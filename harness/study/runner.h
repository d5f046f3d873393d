/*
 * Runs the cells of a study: each is a `kblat run` in a separate process, so that whatever happens to it does not end
 * the study. Several may run at the same time. What becomes of a cell is in the record at once.
 *
 * Not thread-safe, as signals belong to the process. From runner_catch_signals() on, SIGINT, SIGTERM and SIGHUP are
 * caught, and forwarded to the running processes as SIGINT: one ends a run in order, a second one immediately.
 */
#ifndef KBLAT_STUDY_RUNNER_H
#define KBLAT_STUDY_RUNNER_H

#include "study/study.h"

/* In the environment of a run that a study has started, which says by itself what is the same for all of its runs. */
#define STUDY_VARIABLE "KBLAT_STUDY"

#define RUNNER_FILES 2 /* descriptors that a running cell needs here, for what it prints */

struct runner_slot; /* a cell that is running */

struct runner {
	struct study *s;
	FILE *echo; /* what a run prints is copied there when it has ended, except for its directory; NULL: nowhere */
	/* A cell has ended, and is recorded; may be NULL. */
	void (*ended)(struct runner *r, size_t cell);
	void *context; /* of `ended` */
	struct runner_slot *slot;
	size_t slots, busy;
};

void runner_catch_signals(void);
bool runner_is_interrupted(void);

/* The same, by Ctrl-C, and not by what also comes when the machine goes down. */
bool runner_is_interrupted_by_user(void);

/* `at_once`: the most cells that run at the same time, 1 to RUNNER_MOST. */
#define RUNNER_MOST 2048
void runner_open(struct runner *r, struct study *s, size_t at_once);
void runner_close(struct runner *r);

/* Start a cell as soon as there is room for it; its earlier attempt is put away. Nothing is started any more once
 * there was an interrupt. */
int runner_start(struct runner *r, size_t cell, struct err *e);

/* Wait until all that are running have ended, even after an error. */
int runner_finish(struct runner *r, struct err *e);

/* The arguments of a cell's run; words_free() them. */
struct words runner_words(const struct study *s, const struct cell *c);

/* What a directory that is continued brings in, because it is not on the command line: to be shown on standard error
 * before anything of it is done. Options, specs, and settings of cells that are left; a profile of kbtune. */
void runner_show_brought(const struct study *s);
void runner_show_profile(const char *file, const char *text);

#endif
