/*
 * Measures the experiments of a bundle here. A bundle runs nothing: what is run is what this kblat has under their
 * names.
 */
#ifndef KBLAT_STUDY_REPRODUCE_RUN_H
#define KBLAT_STUDY_REPRODUCE_RUN_H

#include "judge/claims/claim_verdict.h"
#include "study/bundle/bundle.h"

/* Run directories are made below `folder`. The claims of all of them, judged together; what could not be run is said on
 * standard error. 0 or a negative errno and `e`. */
int reproduce_run(const struct bundle *b, const char *folder, struct claim_verdicts *out, struct err *e);

#endif
