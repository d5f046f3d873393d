/*
 * All pairs of hosts: one experiment between every two of them, in rounds of disjoint pairs at once, each pair by a
 * `kblat run` of its own into
 *
 *   <name>-pairs-<UTC yyyymmddThhmmssZ>-<8 hex>/
 *     pairs.json       what is measured, between whom; at the end the answer
 *     pairs.jsonl      a line for each pair that was measured: what became of it, and its medians
 *     runs/            run directories
 *     derived/         report.html, the matrices as figures and tables
 *
 * Interrupted, it goes on with `kblat run --resume`: pairs that were completed are not measured again.
 */
#ifndef KBLAT_PAIRS_H
#define KBLAT_PAIRS_H

#include <stdbool.h>

#include "common/err.h"
#include "spec/spec.h"

/* What starts an endpoint where nothing else is said. */
#define PAIRS_LAUNCHER "ssh -o BatchMode=yes -o ConnectTimeout=10 {host}"

struct pairs_options {
	const char *spec;   /* with `resume` NULL */
	const char *hosts;  /* a list or a file */
	const char *resume; /* NULL: a new one */
	const char *out, *source, *sink, *profile_path;
	struct spec_overrides overrides;
	bool mask, dry_run, json, quiet, state;
	long at_once; /* pairs; 0: all of a round, PAIRS_AT_ONCE at most */
	int argc;     /* of `kblat`, for the record */
	char **argv;
};

#define PAIRS_AT_ONCE 128

/* Does this directory hold all pairs of something? */
bool pairs_is(const char *path);

/* Measure them, or what is left of them. Prints what stands out and, as the last line, the directory. */
enum status pairs_run(const struct pairs_options *o, struct err *e);

/* Make the page of a directory with all pairs anew, from what was measured by now. `html` (free it) gets its path; NULL: there is none. 0 or a negative
 * errno and `e`. */
int pairs_report(const char *dir, char **html, struct err *e);

#endif
