/*
 * --format and --exit of the subcommands that judge: verdicts in the words of test labs.
 */
#ifndef KBLAT_COMMANDS_VERDICT_OPTIONS_H
#define KBLAT_COMMANDS_VERDICT_OPTIONS_H

#include <stdbool.h>

#include "common/cli.h"
#include "report/verdict_format.h"

struct verdict_options {
	const char *name, *exit;
	const struct verdict_format *format; /* set by verdict_options_read(); NULL: none is asked for */
};

/* Rows for cli_parse(). */
#define VERDICT_OPTIONS_FLAGS(o)                                                                                       \
	{"format", CLI_STRING, &(o).name, "FORMAT", "print verdicts for a test lab: " VERDICT_FORMAT_NAMES, 0, 0},     \
	{                                                                                                              \
		"exit", CLI_STRING, &(o).exit, "WHOSE",                                                                \
		    "exit statuses as others read them: " VERDICT_EXIT_NAMES " (docs/labs.md)", 0, 0                   \
	}

/* `json`: that was asked for, too, which is one too many. 0, or a negative errno and `e`. */
int verdict_options_read(struct verdict_options *o, bool json, struct err *e);

/* As one of `whose`. Without the output there is no verdict. */
enum status verdict_options_status(const char *whose, enum status status);

/* The status that was asked for: looked up in the arguments, because wrong usage must not look like an answer, either. */
enum status verdict_options_exit(int argc, char *const *argv, enum status status);

#endif
