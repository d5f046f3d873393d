/*
 * Claims of an order: a number that rises, falls or stays along a setting.
 */
#ifndef KBLAT_CLAIMS_CLAIM_TREND_H
#define KBLAT_CLAIMS_CLAIM_TREND_H

#include "claims/claim_case.h"
#include "claims/claim_pairing.h"

/* Judge the trend that point `of` is part of; the ids of its points go into the case, too. */
void claim_trend_judge(struct claim_case *c, const struct claim_pairing *p, const json_t *of);

#endif
