/*
 * Claims about many cases as one: `pool: yes`. A small difference that every case shows, but none
 * beyond its own noise, shows in their geometric mean.
 */
#ifndef KBLAT_CLAIMS_CLAIM_POOL_H
#define KBLAT_CLAIMS_CLAIM_POOL_H

#include "claims/claim_case.h"
#include "claims/claim_pairing.h"

/* Judge the ratio of all points to what each is compared with; the ids of all go into the case. */
void claim_pool_judge(struct claim_case *c, const struct claim_pairing *p);

#endif
