/*
 * What must hold, as written in a spec: ratio, difference, value or order, with its bounds, `along` and `tolerance`.
 */
#ifndef KBLAT_SPEC_CLAIMS_RELATION_H
#define KBLAT_SPEC_CLAIMS_RELATION_H

#include "spec/spec_claims_reader.h"

/* To be called after the metric was read. */
void claim_reader_relation(struct claim_reader *r);

#endif
