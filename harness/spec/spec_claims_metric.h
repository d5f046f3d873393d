/*
 * Which number of a point a claim is about, as a spec says it: "lat_ns.p50".
 */
#ifndef KBLAT_SPEC_CLAIMS_METRIC_H
#define KBLAT_SPEC_CLAIMS_METRIC_H

#include "spec/spec_claims_reader.h"

/* Check it and keep it. `is_elsewhere`: it is of another experiment's points. */
void claim_reader_metric(struct claim_reader *r, const struct ynode *n, bool is_elsewhere, struct claim_metric *m);

#endif
