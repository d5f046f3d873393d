/*
 * The claims of a spec (docs/claims.md): read, checked, and put into their canonical form, in which resolved.json keeps
 * them and claims/claims.h judges them:
 *
 *   {"id", "claim", "source", "measured_by_source", "metric": "lat_ns.p50", "points": {conditions},
 *    "against": null | {"experiment": null | "oneway-event", "metric": "lat_ns.p50", "points": {conditions}},
 *    "by": null | ["qp"], "relation": "ratio" | "difference" | "value" | "rising" | "falling" | "flat",
 *    "min": null | number, "max": null | number, "along": null | "size_bytes", "tolerance": 0.05,
 *    "needs": [{"need": "hca"}, {"need": "cpus", "count": 4}]}
 *
 * Conditions: claims/claims_select.h. Bounds are in the metric's base unit. Every key is always there.
 */
#ifndef KBLAT_SPEC_CLAIMS_H
#define KBLAT_SPEC_CLAIMS_H

#include <jansson.h>
#include <stdbool.h>

struct diag;
struct ynode;

#define SPEC_MAX_CLAIMS 200

/*
 * `points`: the params of all points that the spec means. `whole`: they are those of the spec as it is written, so that
 * a selection without a point is a mistake. What is wrong goes to `d`. A new reference: an array, empty without claims.
 */
json_t *spec_claims_read(const struct ynode *root, const json_t *points, bool whole, struct diag *d);

#endif
