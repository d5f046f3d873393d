/*
 * Judges the claims of runs (docs/claims.md), and prints the verdicts. The interface for other folders.
 */
#ifndef KBLAT_CLAIMS_CLAIMS_H
#define KBLAT_CLAIMS_CLAIMS_H

#include <stdbool.h>
#include <stdio.h>

#include "files/rundir/reader.h"
#include "judge/analysis/verify.h"
#include "judge/claims/claim_needs.h"
#include "judge/claims/claim_verdict.h"

/* Does this run have claims? */
bool claims_are_made(const json_t *resolved);

/* Judge the claims of all runs, in order, using what all of the runs have measured. Pure. */
struct claim_verdicts claims_judge_read(const struct claim_run *runs, size_t count);

/* Judge the claims of all these runs, using what all of them have measured; free with claim_verdicts_free(). A negative
 * errno and `e` if a run has no summary yet; then there are no verdicts. */
int claims_judge(const struct run *runs, size_t count, struct claim_verdicts *out, struct err *e);

/* The same in the form of claims.json: a new reference, or NULL and `e`. */
json_t *claims_of_runs(const struct run *runs, size_t count, struct err *e);

/* For verify_run(): what a run's own claims.json must be. Claims that compare with another experiment are not judged in
 * it. */
extern const struct verify_more claims_files[];

/* The verdicts in claims.json of this directory; none if there is no such file, or its content is something else. */
struct claim_verdicts claims_read(const char *dir);

/* --- verdicts as tables --- */

/* For reading, 100 columns wide; with the experiment if there are several. */
void claims_table(const struct claim_verdicts *v, FILE *out);

/* An empty line, then how many hold: what the source says is not mixed with what we say. A line for each origin. */
void claims_counts(const struct claim_verdicts *v, FILE *out);

/* Tab-separated, for papers and spreadsheets: experiment, id, claim, source, measured_by_source,
 * metric, wanted, measured, verdict, why. */
void claims_tsv(const struct claim_verdicts *v, FILE *out);

#endif
