/*
 * Judges many cases of a claim as one: `pool: yes`. A small difference that all cases show, but none beyond its noise,
 * becomes visible in their geometric mean.
 */
#ifndef KBLAT_CLAIMS_CLAIM_POOL_H
#define KBLAT_CLAIMS_CLAIM_POOL_H

#include "claims/claim_case.h"
#include "claims/claim_pairing.h"

/* Judge the ratio of all points to the points that they are compared with; the case gets the ids of all. */
void claim_pool_judge(struct claim_case *c, const struct claim_pairing *p);

#endif
