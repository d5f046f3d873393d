/*
 * An experiment with another program: it is run several times, in one arm or in two that take turns, each time into a run
 * directory of its own with the machine's state before and after, in an environment if asked. Its samples are imported.
 */
#ifndef KBLAT_IMPORT_FOREIGN_H
#define KBLAT_IMPORT_FOREIGN_H

#include "measure/import/import.h"
#include "measure/run/run.h"

#define FOREIGN_FILE "{file}" /* in a command: the file for its samples */

/* One of up to two things that are compared. */
struct foreign_arm {
	const char *name;	  /* also of its folder in `out`; "": there is only one */
	const char *const *words; /* the command: NULL-terminated */
	const char *environment;  /* a profile of kbtune; NULL: the machine as it is */
};

struct foreign_request {
	struct import_request import; /* without host, boot, command, environment */
	struct foreign_arm arm[2];
	size_t arms;
	const char *samples; /* the file to read, with FOREIGN_FILE in it; NULL: that, or the standard output */
	long runs;	     /* of each arm */
	int64_t limit_ms;    /* for each run of the command */
	bool no_state;
	volatile sig_atomic_t *interrupted;
	void (*begin)(const struct foreign_arm *arm, long run, long runs);
	void (*ended)(const char *path);
	void (*warn)(const char *text);
};

/* Which arm is measured as number `i` of all runs: they take turns, and which is first does, too. */
size_t foreign_turn(const struct foreign_request *q, size_t i);

/* 0, or a negative errno and `e` for the first run that failed, with which it ends; its directory is kept, with what the
 * program printed. */
int foreign_measure(const struct foreign_request *q, struct err *e);

#endif
