/*
 * What a claim requires and what was measured, as texts in the unit of the claim's numbers. The caller frees texts.
 */
#ifndef KBLAT_CLAIMS_CLAIM_TEXT_H
#define KBLAT_CLAIMS_CLAIM_TEXT_H

#include "claims/claim.h"
#include "claims/claim_interval.h"

#define CLAIM_NUMBER_MAX 64

/* Three digits. Returns `buf`. */
char *claim_number_text(const struct claim *c, double value, char *buf, size_t size);

/* "2.21 (2.05 to 2.4)" */
char *claim_estimate_text(const struct claim *c, const struct estimate *e);

/* "ratio at most 0.5", "rising along size" */
char *claim_wanted_text(const struct claim *c);

#endif
