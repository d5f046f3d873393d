/*
 * ARTIFACT.md: the appendix that describes an artifact in the form that systems conferences ask for.
 */
#ifndef KBLAT_STUDY_ARTIFACT_H
#define KBLAT_STUDY_ARTIFACT_H

#include <stdio.h>

#include "judge/claims/claim_verdict.h"
#include "study/bundle/bundle.h"

void artifact_write(const struct bundle *b, const struct claim_verdicts *v, FILE *out);

#endif
