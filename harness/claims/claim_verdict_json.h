/*
 * Verdicts as JSON, as in claims.json. Only this module knows the keys.
 *
 *   {"schema": 1, "claims": [{"experiment", "id", "claim", "source", "measured_by_source", "metric", "wanted": "ratio 0 to
 *    0.5", "measured": "rc 0.35; uc 0.34", "verdict": "holds" | "fails" | "not judged", "why": "" or a sentence,
 *    "cases": [{"label": "rc", "points": [0], "against": [3], "value", "low", "high", "measured", "verdict", "why"}]}]}
 *
 * value, low and high are null where there is none; low and high also for an interval without an
 * end.
 */
#ifndef KBLAT_CLAIMS_CLAIM_VERDICT_JSON_H
#define KBLAT_CLAIMS_CLAIM_VERDICT_JSON_H

#include <jansson.h>

#include "claims/claim_verdict.h"

/* A new reference. */
json_t *claim_verdicts_to_json(const struct claim_verdicts *v);

/* Keys that are missing or have another type are taken as empty; an unknown verdict as "not judged". */
struct claim_verdicts claim_verdicts_from_json(const json_t *document);

#endif
