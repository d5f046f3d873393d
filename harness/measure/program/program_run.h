/*
 * `kblat trace`: the requests of another program, and what its threads did meanwhile, as a run directory. Its one point
 * has a column each for when requests began, ended, in which thread, and their IDs; and the operating system's events
 * (measure/trace/), with which late requests are explained.
 */
#ifndef KBLAT_PROGRAM_RUN_H
#define KBLAT_PROGRAM_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct summary;

enum program_explain { PROGRAM_EXPLAIN_YES, PROGRAM_EXPLAIN_NO, PROGRAM_EXPLAIN_REQUIRED };

struct program_run_request {
	const char *const *command; /* NULL-terminated; NULL: `pid` */
	pid_t pid;
	bool stamps;	       /* the program has them (kblat_stamp.h) */
	const char *file;      /* or it writes its requests into this one; NULL: it does not */
	const char *from, *to; /* or probes are set; NULL: they are not */
	const char *id;	       /* with probes: what tells requests apart; NULL: their threads */
	int64_t for_ns;	       /* 0: until the program ends */
	int64_t untraced_ns;   /* at first, events are not recorded for so long: what recording costs */
	int64_t limit_ns;      /* over which a request is late */
	int64_t buffer_bytes;  /* for events, of each CPU and instance */
	enum program_explain explain;
	const char *name, *out;
	bool mask, keeps_state;
	volatile sig_atomic_t *interrupted; /* then it ends early */
	int argc;			    /* of the command line, without the program's name */
	char *const *argv;
};

struct program_run_result {
	char *path; /* of the run directory; the caller frees */
	bool valid;
	size_t requests;
	int status;	/* of the program, as of spawn_await(); 0 if it goes on */
	char died[160]; /* that it died by a signal while probes were in it; "": it did not */
};

/* Nothing is left behind if it fails: no run directory, no probe, no process that it started. */
int program_run(const struct program_run_request *request, struct program_run_result *result, struct err *e);

#endif
