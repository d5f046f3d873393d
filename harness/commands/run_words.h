/*
 * What subcommands that run a spec understand alike: how to change it, what starts endpoints, shorthands of --set, a
 * budget, where profiles are.
 */
#ifndef KBLAT_COMMANDS_RUN_WORDS_H
#define KBLAT_COMMANDS_RUN_WORDS_H

#include <stdint.h>

#include "common/cli.h"
#include "spec/spec.h"

struct run_words {
	struct cli_list set, only;
	const char *source, *sink, *device, *profile_path, *budget;
	long reps;
	bool quick, mask;
	/* after run_words_read(): */
	struct spec_overrides overrides; /* into the lists */
	int64_t budget_ns;		 /* 0: none */
	char *kept[2], *profiles, *spec;
};

/* Rows for cli_parse(): but for --quick and --budget, which each subcommand explains in its own way. */
#define RUN_WORDS_FLAGS(w)                                                                                             \
	{"set", CLI_LIST, &(w).set, "KEY=VALUE", "change a setting in every point that has it", 0, 0},                 \
	    {"only", CLI_LIST, &(w).only, "KEY=VALUE", "keep the points that match; a key given twice: either", 0, 0}, \
	    {"source", CLI_STRING, &(w).source, "CMD", "command prefix that starts the source endpoint", 0, 0},        \
	    {"sink", CLI_STRING, &(w).sink, "CMD", "command prefix that starts the sink endpoint", 0, 0},              \
	    {"device", CLI_STRING, &(w).device, "DEV", "the RDMA device, as --set device=DEV", 0, 0},                  \
	    {"reps", CLI_INT, &(w).reps, "N", "repetitions, as --set repetitions=N", 1, 100000},                       \
	    {"profile-path", CLI_STRING, &(w).profile_path, "DIR", "look for profiles in DIR first", 0, 0},            \
	{                                                                                                              \
		"mask", CLI_FLAG, &(w).mask, NULL,                                                                     \
		    "hide serial numbers, hardware addresses, hosts' names in the kept state", 0, 0                    \
	}

/* --device and --reps become --set; --profile-path becomes absolute, and kbtune has it from its environment. 0, or a
 * negative errno and `e`. */
int run_words_read(struct run_words *w, struct err *e);

/* The experiment that is asked for becomes a path (spec/experiments.h). One that was installed with kblat keeps its runs
 * in ./runs, unless `*out` says where. 0, or a negative errno and `e` where there is nothing of that name. */
int run_words_find(struct run_words *w, const char **asked, const char **out, struct err *e);

void run_words_free(struct run_words *w);

#endif
