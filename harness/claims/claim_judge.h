/*
 * Judges the claims of runs by what was measured (docs/claims.md). Pure.
 */
#ifndef KBLAT_CLAIMS_CLAIM_JUDGE_H
#define KBLAT_CLAIMS_CLAIM_JUDGE_H

#include "claims/claim_run.h"
#include "claims/claim_verdict.h"

/* Judge the claims of all runs, in order, using what all of the runs have measured. */
struct claim_verdicts claim_judge_runs(const struct claim_run *runs, size_t count);

#endif
