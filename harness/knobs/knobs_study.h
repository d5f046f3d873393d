/*
 * Finds out which knobs of a kbtune profile help. Each is switched on alone and off alone, and
 * compared with no profile and the whole one, in randomised blocks of runs; see docs/knobs.md.
 */
#ifndef KBLAT_KNOBS_STUDY_H
#define KBLAT_KNOBS_STUDY_H

#include <stdbool.h>

#include "common/cli.h"
#include "common/err.h"
#include "spec/spec.h"

struct knobs_options {
	const char *spec, *profile; /* NULL with `resume` */
	const char *resume;	    /* a directory to resume; NULL: create a new one */
	const char *out, *source, *sink, *profile_path, *metric;
	struct spec_overrides overrides;
	struct cli_list quantities, margins;
	long blocks, seed; /* blocks 0: as many as the budget allows, or KNOBS_BLOCKS */
	double budget_s;   /* 0: unlimited */
	bool mask, dry_run, json, quiet;
	int argc; /* kblat's, to be recorded */
	char **argv;
};

#define KNOBS_BLOCKS	 12
#define KNOBS_BLOCKS_MAX 128

/* Run a study. Prints the table and, as the last line, the directory. */
enum status knobs_run(const struct knobs_options *o, struct err *e);

#endif
