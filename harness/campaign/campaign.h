/*
 * A campaign: all experiments of a study, one after the other, each into a run directory of its own inside
 *
 *   <study>-<UTC yyyymmddThhmmssZ>-<8 hex>/
 *     campaign.json    what is run, what became of it; written at every step, so that it can be resumed
 *     <experiment>-<UTC>-<8 hex>/   run directories
 *     claims.json      the claims of all experiments, judged jointly
 *     claims.tsv       the same, for a paper
 *     derived/         `kblat report`
 *
 * campaign.json: {"schema": 1, "study", "title", "path", "status": RUNNING|COMPLETED|PARTIAL|FAILED|INTERRUPTED, "argv": [],
 * "version", "commit", "started_utc", "ended_utc", "options": {"quick", "only": [], "source", "sink", "profile_path", "mask",
 * "no_state"}, "experiments": [{"name", "spec", "set": [], "points", "messages", "expected_s", "paced_s", "basis", "state":
 * pending|running|completed|failed|interrupted|impossible|skipped, "run": null or a directory's name, "earlier": [],
 * "exit_status", "why", "took_s"}]}
 */
#ifndef KBLAT_CAMPAIGN_H
#define KBLAT_CAMPAIGN_H

#include <stdbool.h>

#include "common/err.h"
#include "spec/spec.h"

struct campaign_options {
	const char *path;   /* of a study; NULL with `resume`: whichever it was begun with */
	const char *resume; /* a campaign of that study to continue, which must belong to the user; NULL: a new one */
	const char *out, *source, *sink, *profile_path;
	struct spec_overrides overrides;
	bool mask, no_state, dry_run, json;
	const char *verbosity; /* "--quiet", "--verbose" or NULL: what the experiments are started with */
	double budget_s;       /* of time; 0: no limit */
	int argc;	       /* of `kblat`, for the record */
	char **argv;
};

/* Is this a study's folder or a campaign's, rather than an experiment? */
bool campaign_is(const char *path);

/* Run it, or the rest of it. Prints the table of claims and, as the last line, the campaign's directory. */
enum status campaign_run(const struct campaign_options *o, struct err *e);

#endif
