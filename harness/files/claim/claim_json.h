/*
 * Claims as JSON, as in "claims" of resolved.json. Only this module knows the keys. Every claim has all of them:
 *
 *   {"id", "claim", "source", "measured_by_source", "metric": "lat_ns.p50", "points": {conditions},
 *    "against": null | {"experiment": null | "oneway-event", "metric": "lat_ns.p50", "points": {conditions}},
 *    "by": null | ["qp"], "relation": "ratio" | "difference" | "value" | "rising" | "falling" | "flat",
 *    "min": null | number, "max": null | number, "along": null | "size_bytes", "tolerance": 0.05,
 *    "needs": [{"need": "hca"}, {"need": "cpus", "count": 4}]}
 *
 * and if it has them "origin": "ours" | "self-test" (otherwise it is the source's), "pool": true.
 *
 * Conditions: every key must match, a list holds alternatives, a value that is meant or an object
 * of comparisons:
 *
 *   {"qp": ["rc", "uc"], "size_bytes": [{">=": 64, "<=": 4096}, 65536]}
 */
#ifndef KBLAT_CLAIM_CLAIM_JSON_H
#define KBLAT_CLAIM_CLAIM_JSON_H

#include <jansson.h>

#include "files/claim/claim.h"

/* An array; a new reference. */
json_t *claim_list_to_json(const struct claim_list *list);

/* Keys that are missing or have another type are ignored, as if the claim did not have them. */
struct claim_list claim_list_from_json(const json_t *claims);

/* The claims of a run: those in its resolved.json. */
struct claim_list claim_list_of_run(const json_t *resolved);

#endif
