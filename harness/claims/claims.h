/*
 * The claims that specs make (resolved.json's "claims"; docs/claims.md), judged from what runs measured. Pure: runs come in
 * as JSON, verdicts go out as JSON; reading is claims_read.c's.
 *
 *   {"schema": 1, "claims": [{"experiment", "id", "claim", "source", "measured_by_source", "metric", "wanted": "ratio 0 to
 *    0.5", "measured": "rc 0.35; uc 0.34", "verdict": "holds" | "fails" | "not judged", "why": "" or a sentence,
 *    "cases": [{"label": "rc", "points": [0], "against": [3], "value", "low", "high", "measured", "verdict", "why"}]}]}
 *
 * value, low and high are null where there is none; low and high also for an interval without an end.
 */
#ifndef KBLAT_ANALYSIS_CLAIMS_H
#define KBLAT_ANALYSIS_CLAIMS_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "common/err.h"
#include "rundir/reader.h"

/* A run as it is judged. All borrowed; state and devices may be NULL. */
struct claim_run {
	const json_t *run, *resolved, *summary;
	const json_t *state[2]; /* "keys" of state.json of the source's and the sink's host, before the run */
	const json_t *devices;	/* point id, as a string -> names of the RDMA devices that it was granted */
};

/* The claims of all runs, judged with what all of them measured. A new reference. */
json_t *claims_judge(const struct claim_run *runs, size_t count);

/* The same for open runs (claims_read.c). NULL and `e` if one has no summary yet. */
json_t *claims_of_runs(const struct run *runs, size_t count, struct err *e);

/* Does this run make claims? */
bool claims_are_made(const json_t *resolved);

/* STATUS_NO if one fails, STATUS_UNDECIDED if none is judged, else STATUS_OK. */
enum status claims_status(const json_t *verdicts);

/* How many have a verdict. */
size_t claims_count(const json_t *verdicts, const char *verdict);

/* Are there claims of more than one experiment among these, "claims" of claims_judge()? */
bool claims_of_several(const json_t *all);

/* For people, 100 columns wide; the experiment only where there are several (claims_table.c). */
void claims_table(const json_t *verdicts, FILE *out);

/* Tab-separated, for papers and spreadsheets: experiment, id, claim, source, measured_by_source, measured, verdict, why. */
void claims_tsv(const json_t *verdicts, FILE *out);

#endif
