/*
 * Which knobs of a kbtune profile help: each switched on alone and off alone, beside the whole and
 * nothing, in randomised blocks of runs; docs/knobs.md.
 */
#ifndef KBLAT_KNOBS_STUDY_H
#define KBLAT_KNOBS_STUDY_H

#include <stdbool.h>

#include "common/cli.h"
#include "common/err.h"
#include "spec/spec.h"

struct knobs_options {
	const char *spec, *profile; /* NULL with `resume` */
	const char *resume;	    /* a directory to go on with; NULL: a new one */
	const char *out, *source, *sink, *profile_path, *metric;
	struct spec_overrides overrides;
	struct cli_list quantities, margins;
	long blocks, seed; /* blocks 0: as many as the budget holds, or KNOBS_BLOCKS */
	double budget_s;   /* 0: as long as it takes */
	bool mask, dry_run, json, quiet;
	int argc; /* of `kblat`, for the record */
	char **argv;
};

#define KNOBS_BLOCKS	 12
#define KNOBS_BLOCKS_MAX 128

/* Prints the table and, as the last line, the directory. */
enum status knobs_run(const struct knobs_options *o, struct err *e);

#endif
