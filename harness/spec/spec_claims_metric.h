/*
 * The number of a point that a claim is about, as written in a spec: "lat_ns.p50".
 */
#ifndef KBLAT_SPEC_CLAIMS_METRIC_H
#define KBLAT_SPEC_CLAIMS_METRIC_H

#include "spec/spec_claims_reader.h"

/* Check and store it. `is_elsewhere`: it belongs to points of another experiment. */
void claim_reader_metric(struct claim_reader *r, const struct ynode *n, bool is_elsewhere, struct claim_metric *m);

#endif
