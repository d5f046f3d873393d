/*
 * Claims about an order: a number that rises, falls or stays the same along a setting.
 */
#ifndef KBLAT_CLAIMS_CLAIM_TREND_H
#define KBLAT_CLAIMS_CLAIM_TREND_H

#include "judge/claims/claim_pairing.h"
#include "judge/claims/claim_verdict.h"

/* Judge the trend to which point `of` belongs; the case also gets the ids of its points. `error`: how often one of its
 * intervals may miss the truth. */
void claim_trend_judge(struct claim_case *c, const struct claim_pairing *p, const struct summary_point *of,
		       double error);

#endif
