/*
 * The claims that runs make, judged by what was measured (docs/claims.md). Pure.
 */
#ifndef KBLAT_CLAIMS_CLAIM_JUDGE_H
#define KBLAT_CLAIMS_CLAIM_JUDGE_H

#include "claims/claim_run.h"
#include "claims/claim_verdict.h"

/* The claims of all runs, in their order, judged with what all of them measured. */
struct claim_verdicts claim_judge_runs(const struct claim_run *runs, size_t count);

#endif
