/*
 * The claims of runs, judged (docs/claims.md): the way in for everybody else.
 */
#ifndef KBLAT_CLAIMS_CLAIMS_H
#define KBLAT_CLAIMS_CLAIMS_H

#include <stdbool.h>

#include "claims/claim_verdict.h"
#include "rundir/reader.h"

/* Does this run make claims? */
bool claims_are_made(const json_t *resolved);

/* The claims of all these runs, judged with what all of them measured: for claim_verdicts_free(). A
 * negative errno and `e` if one has no summary yet; then there are none. */
int claims_judge(const struct run *runs, size_t count, struct claim_verdicts *out, struct err *e);

/* The same as claims.json says it: a new reference, NULL and `e`. */
json_t *claims_of_runs(const struct run *runs, size_t count, struct err *e);

/* What claims.json in this directory says; none if there is no such file, or if it is none. */
struct claim_verdicts claims_read(const char *dir);

#endif
