/*
 * Command lines. A subcommand has a table of flags; parsing, --help and "did you mean" come from
 * the table.
 */
#ifndef KBLAT_COMMON_CLI_H
#define KBLAT_COMMON_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/err.h"

enum cli_kind {
	CLI_FLAG,   /* bool        */
	CLI_STRING, /* const char* */
	CLI_INT,    /* long, with min and max */
	CLI_LIST,   /* struct cli_list: may be repeated */
};

struct cli_list {
	const char **items; /* freed by cli_list_free; the strings are argv's */
	size_t count;
};

struct cli_flag {
	const char *name; /* without the dashes */
	enum cli_kind kind;
	void *target;
	const char *metavar; /* NULL for CLI_FLAG */
	const char *help;
	long min, max; /* CLI_INT */
};

/* A row of such a table that is no flag, but heads those that follow. */
#define CLI_HEADING(text)                                                                                              \
	{                                                                                                              \
		"", CLI_FLAG, NULL, NULL, (text), 0, 0                                                                 \
	}

struct cli_command {
	const char *name;
	const char *synopsis;	   /* "SPEC [--out DIR] ..."; a line for each form that it has */
	const char *summary;	   /* one line */
	const char *details;	   /* paragraphs, may be NULL */
	size_t min_args, max_args; /* positional */
};

/*
 * Read argv[1..] of a subcommand (argv[0] is its name). Flags may stand anywhere before "--";
 * "--name=value" and "--name value". `--help` sets *help and returns 0 at once. Positional
 * arguments end up in `args` (cli_list_free). 0, or -EINVAL and `e` (STATUS_USAGE).
 */
int cli_parse(const struct cli_command *c, const struct cli_flag *flags, int argc, char **argv, struct cli_list *args,
	      bool *help, struct err *e);
void cli_list_free(struct cli_list *l);

/* "kernel,irq" as a NULL-terminated list; `text` may be NULL. The caller frees both it and `*copy`,
 * into which it points. */
const char **cli_names(const char *text, char **copy);

/* A text's paragraphs, wrapped at 80 columns; lines that begin with a blank stay as they are. */
void cli_print_text(const char *text, FILE *out);

/* "  name   text", with the text wrapped at 80 columns and indented to `column`; it begins below a name that is too
 * long. */
void cli_print_item(const char *name, int column, const char *text, FILE *out);

/* Usage, summary, details, flags, wrapped at 80 columns. */
void cli_help(const char *program, const struct cli_command *c, const struct cli_flag *flags, FILE *out);

/* What a command does with its arguments, which are borrowed, and with what its flags have set. */
typedef enum status cli_act(const struct cli_list *args, void *options, struct err *e);

/* cli_parse(), and help if it is asked for; otherwise `act`. Returns its status. */
enum status cli_run(const char *program, const struct cli_command *c, const struct cli_flag *flags, int argc,
		    char **argv, cli_act *act, void *options, struct err *e);

/* From now on cli_help() calls `write` instead of printing; NULL makes it print again. */
typedef void cli_help_writer(void *arg, const struct cli_command *c, const struct cli_flag *flags);
void cli_help_divert(cli_help_writer *write, void *arg);

/* Flush stdout and report write errors, such as a full disk or a closed pipe: 0 or a negative errno. Call before
 * exit. */
int cli_close_stdout(void);

#endif
