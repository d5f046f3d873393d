/*
 * A program with subcommands: dispatch, help, "did you mean", --version, printing the error, the exit status. The
 * main() of both programs consists of tables and one call.
 */
#ifndef KBLAT_COMMON_PROGRAM_H
#define KBLAT_COMMON_PROGRAM_H

#include <stdbool.h>

#include "common/cli.h"
#include "common/err.h"

/* A library that the program runs with, and its version at run time. */
struct library {
	const char *name;	      /* NULL ends a table */
	const char *(*version)(void); /* NULL: `name` is a file ("libnuma.so.1"), whose full name has it */
	const char *feature;	      /* it is left out of builds without that (common/feature.h); NULL: it is in all */
};

struct program_command {
	const struct cli_command *cli; /* NULL ends a table */
	enum status (*run)(int argc, char **argv, struct err *e);
	bool hidden; /* for the program itself, not for people */
};

struct program_status {
	enum status status;
	const char *meaning; /* NULL ends a table */
};

struct program {
	const char *name;
	const char *about; /* paragraphs for the help */
	const struct program_status *statuses;
	const struct program_command *commands;
	const struct library *libraries; /* for --version */
};

/* What main() returns: the command's status, or STATUS_FAILED if standard output could not be written. */
int program_main(const struct program *p, int argc, char **argv);

/* The status instead of STATUS_FAILED, for a command that translates its statuses into those of others. */
void program_lost_output_is(int status);

#endif
