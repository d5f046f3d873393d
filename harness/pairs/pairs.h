/*
 * All pairs of hosts: measures one experiment between every two hosts, in rounds of disjoint pairs at the same time.
 * Each pair is measured by a separate `kblat run`, into
 *
 *   <name>-pairs-<UTC yyyymmddThhmmssZ>-<8 hex>/
 *     pairs.json       what is measured, between whom; at the end the answer
 *     pairs.jsonl      a line for each pair that was measured: what became of it, and its medians
 *     runs/            run directories
 *     derived/         report.html, the matrices as figures and tables
 *
 * If it was interrupted, `kblat run --resume` continues it; completed pairs are not measured again.
 */
#ifndef KBLAT_PAIRS_H
#define KBLAT_PAIRS_H

#include <stdbool.h>

#include "common/err.h"
#include "spec/spec.h"

/* The launcher, if no other is given. */
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

/* Is this the directory of a measurement of all pairs? */
bool pairs_is(const char *path);

/* Measure them, or the rest of them. Prints what stands out and, as the last line, the directory. */
enum status pairs_run(const struct pairs_options *o, struct err *e);

/* Generate the page of such a directory again, from what has been measured so far. `html` (free it) gets its path;
 * NULL: there is none. 0 or a negative errno and `e`. */
int pairs_report(const char *dir, char **html, struct err *e);

#endif
