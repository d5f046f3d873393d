/*
 * Options that all subcommands which run a spec have in common: changes to the spec, commands that
 * start endpoints, shorthands for --set, a budget, where to find profiles.
 */
#ifndef KBLAT_COMMANDS_SHARED_OPTIONS_H
#define KBLAT_COMMANDS_SHARED_OPTIONS_H

#include <stdint.h>

#include "common/cli.h"
#include "measure/spec/spec.h"

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

#endif
