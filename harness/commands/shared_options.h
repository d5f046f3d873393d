/*
 * Options that several subcommands have in common. Those that run a spec: changes to the spec,
 * commands that start endpoints, shorthands for --set, a budget, where to find profiles. Those that
 * judge: verdicts for test labs.
 */
#ifndef KBLAT_COMMANDS_SHARED_OPTIONS_H
#define KBLAT_COMMANDS_SHARED_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/cli.h"
#include "measure/spec/spec.h"
#include "report/verdict_format.h"

struct shared_options {
	struct cli_list set, only;
	const char *source, *sink, *device, *profile_path, *budget;
	long reps;
	bool quick, mask;
	/* set by shared_options_read(): */
	struct spec_overrides overrides; /* points into the lists */
	int64_t budget_ns;		 /* 0: none */
	char *kept[2], *profiles, *spec;
};

/* Rows for cli_parse(), except for --quick and --budget, for which each subcommand has a help text
 * of its own. */
#define SHARED_OPTIONS_FLAGS(w)                                                                                        \
	{"set", CLI_LIST, &(w).set, "KEY=VALUE", "change a setting in every point that has it", 0, 0},                 \
	    {"only",                                                                                                   \
	     CLI_LIST,                                                                                                 \
	     &(w).only,                                                                                                \
	     "KEY=VALUE",                                                                                              \
	     "keep only the points that match; values of the same key are alternatives",                               \
	     0,                                                                                                        \
	     0},                                                                                                       \
	    {"source", CLI_STRING, &(w).source, "CMD", "command prefix that starts the source endpoint", 0, 0},        \
	    {"sink", CLI_STRING, &(w).sink, "CMD", "command prefix that starts the sink endpoint", 0, 0},              \
	    {"device", CLI_STRING, &(w).device, "DEV", "the RDMA device, as --set device=DEV", 0, 0},                  \
	    {"reps", CLI_INT, &(w).reps, "N", "repetitions, as --set repetitions=N", 1, 100000},                       \
	    {"profile-path", CLI_STRING, &(w).profile_path, "DIR", "look for profiles in DIR first", 0, 0},            \
	{                                                                                                              \
		"mask", CLI_FLAG, &(w).mask, NULL,                                                                     \
		    "hide serial numbers, hardware addresses, hosts' names in the recorded state", 0, 0                \
	}

/* Convert --device and --reps to --set; make --profile-path absolute, and put it in the environment
 * for kbtune. 0, or a negative errno and `e`. */
int shared_options_read(struct shared_options *w, struct err *e);

/* Replace the name of the experiment asked for by its path (measure/spec/experiments.h). Runs of an
 * experiment that was installed with kblat go to ./runs, unless `*out` is set. 0, or a negative
 * errno and `e` if there is no such experiment. */
int shared_options_find(struct shared_options *w, const char **asked, const char **out, struct err *e);

void shared_options_free(struct shared_options *w);

/* Runs that have not ended, which a folder that is compared may have: say that they are passed over. */
struct compare_runs;
void compare_runs_say_passed(const struct compare_runs *runs);

/* --format and --exit of the subcommands that judge: verdicts in the words of test labs. */
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
