/*
 * Options of `kblat import`, and of `kblat run --foreign`, which imports what another program has measured.
 */
#ifndef KBLAT_COMMANDS_IMPORT_OPTIONS_H
#define KBLAT_COMMANDS_IMPORT_OPTIONS_H

#include <signal.h>

#include "common/cli.h"
#include "measure/import/import.h"

struct import_options {
	const char *limit;
	struct import_request request;
};

#define IMPORT_OPTIONS_FLAGS(o)                                                                                        \
	{"column",                                                                                                     \
	 CLI_STRING,                                                                                                   \
	 &(o).request.column,                                                                                          \
	 "NAME",                                                                                                       \
	 "the column of a CSV file or of rtla, the tag or direction of a log (its only one)",                          \
	 0,                                                                                                            \
	 0},                                                                                                           \
	    {"unit",                                                                                                   \
	     CLI_STRING,                                                                                               \
	     &(o).request.unit,                                                                                        \
	     "UNIT",                                                                                                   \
	     "its unit, ns, us, ms or s, unless its name ends in that (lat_us)",                                       \
	     0,                                                                                                        \
	     0},                                                                                                       \
	    {"name",                                                                                                   \
	     CLI_STRING,                                                                                               \
	     &(o).request.name,                                                                                        \
	     "NAME",                                                                                                   \
	     "of the experiment (the format); compare takes runs of one name",                                         \
	     0,                                                                                                        \
	     0},                                                                                                       \
	{                                                                                                              \
		"limit", CLI_STRING, &(o).limit, "TIME", "over which a message is late (10us)", 0, 0                   \
	}

/* Checks them, for this format. 0, or -EINVAL and `e`. */
int import_options_read(struct import_options *o, const char *command, const char *format, struct err *e);

/* `kblat run --foreign FORMAT -- COMMAND`. */
struct foreign_options {
	const char *format, *base, *environment, *samples, *timeout;
	struct import_options import;
};

#define FOREIGN_OPTIONS_FLAGS(o)                                                                                       \
	{"foreign",                                                                                                    \
	 CLI_STRING,                                                                                                   \
	 &(o).format,                                                                                                  \
	 "FORMAT",                                                                                                     \
	 "run the COMMAND after --, whose samples have this format (kblat import --list)",                             \
	 0,                                                                                                            \
	 0},                                                                                                           \
	    {"base", CLI_STRING, &(o).base, "COMMAND", "another command, with which it takes turns", 0, 0},            \
	    {"environment",                                                                                            \
	     CLI_STRING,                                                                                               \
	     &(o).environment,                                                                                         \
	     "PROFILE[,PROFILE]",                                                                                      \
	     "of kbtune, or none; of two, the first is for the base",                                                  \
	     0,                                                                                                        \
	     0},                                                                                                       \
	    {"samples",                                                                                                \
	     CLI_STRING,                                                                                               \
	     &(o).samples,                                                                                             \
	     "FILE",                                                                                                   \
	     "where it writes them ({file} if the command has it, otherwise its standard output)",                     \
	     0,                                                                                                        \
	     0},                                                                                                       \
	    {"timeout", CLI_STRING, &(o).timeout, "TIME", "for each run (10min)", 0, 0},                               \
	    IMPORT_OPTIONS_FLAGS((o).import)

struct foreign_how {
	const char *out; /* NULL: runs */
	long runs;
	bool no_state, dry_run, quiet;
	volatile sig_atomic_t *interrupted;
	int argc;
	char *const *argv;
};

/* Measure; the path of each run directory is printed. `words`: the command. */
enum status foreign_options_run(struct foreign_options *o, const struct cli_list *words, const struct foreign_how *how,
				struct err *e);

#endif
