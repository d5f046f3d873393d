/*
 * The part that is common to all commands: parse the command line, print help on request, open the machine, act, close
 * it.
 */
#ifndef KBLAT_TUNING_COMMAND_H
#define KBLAT_TUNING_COMMAND_H

#include "common/cli.h"
#include "common/err.h"

struct machine;

/* Rows of a command's table of flags. */
#define COMMAND_SYSROOT(target)                                                                                        \
	{                                                                                                              \
		"sysroot", CLI_STRING, (target), "DIR", "work on a recorded machine below DIR", 0, 0                   \
	}
#define COMMAND_JSON(target)                                                                                           \
	{                                                                                                              \
		"json", CLI_FLAG, (target), NULL, "print JSON", 0, 0                                                   \
	}
#define COMMAND_REPLACE(target)                                                                                        \
	{                                                                                                              \
		"replace", CLI_FLAG, (target), NULL, "restore what is applied first", 0, 0                             \
	}
#define COMMAND_STRICT(target)                                                                                         \
	{                                                                                                              \
		"strict", CLI_FLAG, (target), NULL, "refuse what is not possible on this machine or cannot be undone", \
		    0, 0                                                                                               \
	}
#define COMMAND_WITHOUT(target)                                                                                        \
	{                                                                                                              \
		"without", CLI_LIST, (target), "KNOB", "leave this setting of the profile out; may be repeated", 0, 0  \
	}
#define COMMAND_FLAGS_END                                                                                              \
	{                                                                                                              \
		NULL, CLI_FLAG, NULL, NULL, NULL, 0, 0                                                                 \
	}

struct command {
	const struct cli_command *cli;
	const struct cli_flag *flags;
	const char *const *sysroot; /* where the flag's value is; NULL: the command has none */
	enum status (*act)(struct machine *m, const struct cli_list *args, void *request, struct err *e);
	void *request; /* what the flags say, for `act` */
};

/* Returns an exit status, and fills `e` on failure. */
enum status command_run(const struct command *c, int argc, char **argv, struct err *e);

/* The actions of a command whose first argument is the name of an action. */
struct command_action {
	const char *name;	   /* NULL ends a table */
	size_t min_args, max_args; /* after the name */
	enum status (*run)(void *request);
};

/* Run the action named by the first of `args`. STATUS_USAGE and `e` if it is unknown, or the number of arguments is
 * wrong. */
enum status command_act(const char *command, const struct command_action *actions, const struct cli_list *args,
			void *request, struct err *e);

/* args[from..], NULL-terminated, as execvp expects it; to be freed. */
char **command_words(const struct cli_list *args, size_t from);

#endif
